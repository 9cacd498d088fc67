/** One tensor of a file of weights. */
export interface TensorBytes {
  readonly name: string;
  readonly bytes: number;
}

/** What the first bytes of a file of weights gave; `why` goes on "its header ". */
export type Header<Read> =
  /** At least so many bytes of the file are needed. */
  | { readonly kind: 'more'; readonly bytes: number }
  | { readonly kind: 'damaged'; readonly why: string }
  | ({ readonly kind: 'known' } & Read);

/** No header that a model has is longer: a vocabulary of a million words takes less. */
const mostHeaderBytes = 64 * 2 ** 20;

/** More tensors than any model has: one with 128 layers of 512 experts that nobody has joined has 600,000. */
export const mostTensors = 1_000_000;

/** What becomes of a header that goes on to here: read more, unless the file or our patience ends before. */
export function needsUntil(
  end: number,
  fileBytes: number,
): { readonly kind: 'more'; readonly bytes: number } | { readonly kind: 'damaged'; readonly why: string } {
  if (end > fileBytes) return { kind: 'damaged', why: 'goes on behind the end of the file' };
  if (end > mostHeaderBytes) return { kind: 'damaged', why: 'is longer than 64 MiB' };
  return { kind: 'more', bytes: end };
}
