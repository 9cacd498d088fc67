import type { Diagnostic } from './diagnostic.ts';

/** At least one of something. */
export type NonEmpty<T> = readonly [T, ...T[]];

/** An expected failure of I/O, carried as diagnostics. Anything else that is thrown is a bug of meshwright. */
export class FleetError extends Error {
  readonly diagnostics: NonEmpty<Diagnostic>;

  constructor(diagnostics: NonEmpty<Diagnostic>, options?: ErrorOptions) {
    super(diagnostics.map((one) => `${one.code}: ${one.detail}`).join('\n'), options);
    this.name = 'FleetError';
    this.diagnostics = diagnostics;
  }
}
