import { createReadStream } from 'node:fs';
import { loadNative } from './load-native.ts';

/** A 64-bit number as two halves of 32 bits, because a JavaScript number holds only 53 bits. */
interface Halves {
  readonly high: number;
  readonly low: number;
}

/** The start value. */
const fnvOffset: Halves = { high: 0xcbf29ce4, low: 0x84222325 };

/** After each byte, the hash is multiplied by the sum of 2^40 and this number. */
const fnvPrime = 0x1b3;

/** Operations on small integers and a loop over an index take a tenth of the time of big integers. */
function addBytes(hash: Halves, bytes: Uint8Array): Halves {
  let { high, low } = hash;
  for (let at = 0; at < bytes.length; at += 1) {
    const mixed = low ^ (bytes[at] as number);
    const first = (mixed & 0xffff) * fnvPrime;
    const second = (mixed >>> 16) * fnvPrime + (first >>> 16);
    high = (Math.imul(high, fnvPrime) + (mixed << 8) + (second >>> 16)) | 0;
    low = (second << 16) | (first & 0xffff);
  }
  return { high, low };
}

const hexOf = ({ high, low }: Halves): string =>
  [high, low].map((one) => (one >>> 0).toString(16).padStart(8, '0')).join('');

/**
 * FNV-1a (64 bits, 16 hexadecimal digits) over the bytes of a tensor. llama.cpp's workers name cached tensors by it.
 *
 * @see http://www.isthe.com/chongo/tech/comp/fnv/, and `fnv_hash` in ggml/src/ggml-rpc/ggml-rpc.cpp
 */
export const fnv1a64 = (bytes: Uint8Array): string => hexOf(addBytes(fnvOffset, bytes));

/**
 * The FNV-1a-64 hash of a file, by which llama.cpp's workers name a cached tensor. The native addon computes it if there
 * is one for this computer. @throws the error of Node if the file cannot be read
 */
export async function fnvOfFile(path: string, loaded = loadNative()): Promise<string> {
  try {
    if (loaded.addon !== undefined) return await loaded.addon.fnv(path);
  } catch {
    // The same file is read below, which succeeds or gives Node's own error.
  }
  let hash = fnvOffset;
  for await (const bytes of createReadStream(path, { highWaterMark: 1 << 20 })) hash = addBytes(hash, bytes);
  return hexOf(hash);
}
