import type { Diagnostic } from '../../src/diagnostics/diagnostic.ts';
import { plainText } from '../../src/diagnostics/prose-text.ts';
import type { Prose } from '../../src/model/text/prose.ts';

/** The type of a value whose texts are plain text. */
export type AsText<T> = { readonly [Key in keyof T]: Prose extends T[Key] ? string : T[Key] };

const textKeys = ['detail', 'hint', 'action', 'cure', 'source', 'reason'];

/** A diagnostic, blocker or finding with its texts as shown for real Macs. */
export const asText = <T extends object>(value: T): AsText<T> =>
  Object.fromEntries(
    Object.entries(value).map(([key, own]: [string, unknown]) => [
      key,
      textKeys.includes(key) && Array.isArray(own) ? plainText(own as Prose) : own,
    ]),
  ) as AsText<T>;

/** The same for several diagnostics and the diagnostics inside them. */
export const diagnosticsAsText = (all: readonly Diagnostic[]): readonly AsText<Diagnostic>[] =>
  all.map((one) => ({ ...asText(one), related: one.related.map((other) => asText(other)) }));
