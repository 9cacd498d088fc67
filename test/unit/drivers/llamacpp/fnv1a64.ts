/** The start value of a 64-bit hash, in two halves. */
const fnvOffset = { high: 0xcbf29ce4, low: 0x84222325 } as const;

/** The multiplier that is applied after each byte. */
const fnvPrime = { high: 0x100, low: 0x1b3 } as const;

const half = 2 ** 32;

/** A 64-bit number as two halves, because a JavaScript number holds only 53 bits. */
interface Halves {
  readonly high: number;
  readonly low: number;
}

/**
 * FNV-1a (64 bits, 16 hexadecimal digits) over the bytes of a tensor. llama.cpp's workers name cached tensors by it.
 * Two halves avoid a bigint per byte.
 *
 * @see http://www.isthe.com/chongo/tech/comp/fnv/, and `fnv_hash` in ggml/src/ggml-rpc/ggml-rpc.cpp
 */
export function fnv1a64(bytes: Uint8Array): string {
  let { high, low }: Halves = fnvOffset;
  for (const byte of bytes) {
    const mixed = (low ^ byte) >>> 0;
    // 435 times a number of at most 32 bits: the product is exact.
    const product = mixed * fnvPrime.low;
    high = (Math.imul(high, fnvPrime.low) + Math.imul(mixed, fnvPrime.high) + Math.floor(product / half)) >>> 0;
    low = product >>> 0;
  }
  return [high, low].map((one) => one.toString(16).padStart(8, '0')).join('');
}
