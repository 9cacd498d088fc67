import type { Diagnostic } from './diagnostic.ts';
import { plainText } from './prose-text.ts';

/** At least one of something. */
export type NonEmpty<T> = readonly [T, ...T[]];

/** What may accompany the diagnostics of a {@link FleetError}. */
export interface FleetErrorOptions extends ErrorOptions {
  /** Texts of the files that the diagnostics point into, by file name, so that the marked lines can be shown. */
  readonly sources?: Readonly<Record<string, string>>;
}

/** An expected failure of I/O, carried as diagnostics. Anything else that is thrown is a bug of meshwright. */
export class FleetError extends Error {
  readonly diagnostics: NonEmpty<Diagnostic>;
  readonly sources: Readonly<Record<string, string>>;

  constructor(diagnostics: NonEmpty<Diagnostic>, options?: FleetErrorOptions) {
    super(diagnostics.map((one) => `${one.code}: ${plainText(one.detail)}`).join('\n'), options);
    this.name = 'FleetError';
    this.diagnostics = diagnostics;
    this.sources = options?.sources ?? {};
  }
}
