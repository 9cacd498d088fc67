import type { Prose } from '../model/text/prose.ts';
/** What a source gave before it is judged: bytes, or why there are none. No reason holds any of them. */
export type RawSecret =
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  | { readonly kind: 'refused'; readonly why: string; readonly hint: Prose }
  /** Others may read it. */
  | { readonly kind: 'exposed'; readonly why: string; readonly hint: Prose };

/** One byte more than a secret with its line break may have is enough to refuse it. */
export const mostRawBytes = 2_048;
