/** What a hash of 64 bits starts from, in two halves. */
export const fnvOffset = { high: 0xcbf29ce4, low: 0x84222325 } as const;

/** What it is multiplied by after each byte. */
export const fnvPrime = { high: 0x100, low: 0x1b3 } as const;

const half = 2 ** 32;

/** The bits of a number of 64 bits that is above what a number here holds. */
interface Halves {
  readonly high: number;
  readonly low: number;
}

/**
 * The hash by which llama.cpp's workers name what they cache: FNV-1a for 64 bits over the bytes of a tensor, as 16
 * digits. Numbers of 64 bits are kept as two halves: no bigint is made for a byte.
 *
 * @see http://www.isthe.com/chongo/tech/comp/fnv/, and `fnv_hash` in ggml/src/ggml-rpc/ggml-rpc.cpp
 */
export function fnv1a64(bytes: Uint8Array): string {
  let { high, low }: Halves = fnvOffset;
  for (const byte of bytes) {
    const mixed = (low ^ byte) >>> 0;
    // At most 435 times 32 bits: exact.
    const product = mixed * fnvPrime.low;
    high = (Math.imul(high, fnvPrime.low) + Math.imul(mixed, fnvPrime.high) + Math.floor(product / half)) >>> 0;
    low = product >>> 0;
  }
  return [high, low].map((one) => one.toString(16).padStart(8, '0')).join('');
}
