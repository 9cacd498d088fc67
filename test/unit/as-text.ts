import type { Diagnostic } from '../../src/diagnostics/diagnostic.ts';
import { plainText } from '../../src/diagnostics/prose-text.ts';
import type { Prose } from '../../src/model/text/prose.ts';

/** A value with its texts as a person reads them. */
export type AsText<T> = { readonly [Key in keyof T]: Prose extends T[Key] ? string : T[Key] };

const textKeys = ['detail', 'hint', 'action', 'cure', 'source', 'reason'];

/** The same value, its texts as a person reads them who has real Macs: a diagnostic, a blocker, a finding. */
export const asText = <T extends object>(value: T): AsText<T> =>
  Object.fromEntries(
    Object.entries(value).map(([key, own]: [string, unknown]) => [
      key,
      textKeys.includes(key) && Array.isArray(own) ? plainText(own as Prose) : own,
    ]),
  ) as AsText<T>;

/** The same of many diagnostics, and of those that belong to them. */
export const diagnosticsAsText = (all: readonly Diagnostic[]): readonly AsText<Diagnostic>[] =>
  all.map((one) => ({ ...asText(one), related: one.related.map((other) => asText(other)) }));
