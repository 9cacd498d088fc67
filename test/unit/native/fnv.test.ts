import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fnv1a64 } from '../../../src/native/fnv.ts';

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

/** The definition by its authors, byte by byte, with big integers. */
function slowly(bytes: Uint8Array): string {
  let hash = 0xcbf29ce484222325n;
  for (const byte of bytes) hash = ((hash ^ BigInt(byte)) * 0x100000001b3n) % 2n ** 64n;
  return hash.toString(16).padStart(16, '0');
}

describe('FNV-1a for 64 bits', () => {
  // Test vectors of its authors: http://www.isthe.com/chongo/src/fnv/test_fnv.c.
  it.each([
    ['', 'cbf29ce484222325'],
    ['a', 'af63dc4c8601ec8c'],
    ['b', 'af63df4c8601f1a5'],
    ['foobar', '85944171f73967e8'],
  ])('matches the published value for "%s"', (text, hash) => {
    expect(fnv1a64(bytesOf(text))).toBe(hash);
  });

  it('matches its definition for any bytes', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => fnv1a64(bytes) === slowly(bytes)));
  });
});
