import { createHash } from 'node:crypto';

/** Identifies one random-looking value: equal words give equal values. */
export type SeedWords = readonly (string | number)[];

/** 32 bytes derived from the words. They are not secret and must not be used as a secret. */
export function seededBytes(words: SeedWords): Buffer {
  const hash = createHash('sha256');
  for (const word of words) hash.update(`${String(word).length}:${word};`);
  return hash.digest();
}

/** A version 4 UUID in upper case, as macOS prints it. */
export function seededUuid(words: SeedWords): string {
  const hex = seededBytes(words).toString('hex').toUpperCase();
  const variant = '89AB'.charAt(Number.parseInt(hex.charAt(16), 16) % 4);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** An integer from `from` to `to`, both inclusive. */
export function seededInteger(words: SeedWords, from: number, to: number): number {
  return from + (seededBytes(words).readUInt32BE(0) % (to - from + 1));
}

/** A text of this many characters from the alphabet, at most 32. */
export function seededText(words: SeedWords, alphabet: string, length: number): string {
  return [...seededBytes(words).subarray(0, length)].map((byte) => alphabet.charAt(byte % alphabet.length)).join('');
}

/** A MAC address with this prefix, such as `d0:11:e5`. */
export function seededMac(words: SeedWords, prefix: string): string {
  const missing = 6 - prefix.split(':').length;
  const octets = [...seededBytes(words).subarray(0, missing)].map((byte) => byte.toString(16).padStart(2, '0'));
  return [prefix, ...octets].join(':');
}
