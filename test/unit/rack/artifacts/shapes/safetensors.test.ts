import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { safetensorsHeader } from '../../../../../src/rack/artifacts/shapes/safetensors.ts';
import { safetensorsBytes, tensorsInRow, u64 } from './headers.ts';

const read = (bytes: Uint8Array, fileBytes = bytes.length) => safetensorsHeader(bytes, fileBytes);

describe('a safetensors header', () => {
  it("yields every tensor's size without the metadata", () => {
    const { header, dataBytes } = tensorsInRow({ empty: 0, 'model.norm.weight': 14_336, 'lm_head.weight': 400 });
    const bytes = safetensorsBytes({ __metadata__: { format: 'mlx' }, ...(header as object) });
    expect(read(bytes, bytes.length + dataBytes)).toEqual({
      kind: 'known',
      tensors: [
        { name: 'empty', bytes: 0 },
        { name: 'model.norm.weight', bytes: 14_336 },
        { name: 'lm_head.weight', bytes: 400 },
      ],
    });
  });

  it('requests exactly the bytes that it needs', () => {
    const bytes = safetensorsBytes({});
    expect(read(bytes.subarray(0, 3), bytes.length)).toEqual({ kind: 'more', bytes: 8 });
    expect(read(bytes.subarray(0, 8), bytes.length)).toEqual({ kind: 'more', bytes: 10 });
    expect(read(u64(2 ** 26 - 8), 2 ** 26)).toEqual({ kind: 'more', bytes: 2 ** 26 });
  });

  const end = 'continues past the end of the file';
  const outside = 'has a tensor outside the file';
  const damaged: readonly (readonly [string, Uint8Array, number, string])[] = [
    ['an empty file', Buffer.alloc(0), 0, end],
    ['a length of ten gigabytes', u64(10_000_000_000), 4_000, end],
    ['a length of ten gigabytes in a larger file', u64(10_000_000_000), 2e10, 'is longer than 64 MiB'],
    ['a length of one byte too many', u64(2 ** 26 - 7), 2e10, 'is longer than 64 MiB'],
    ['the largest length', u64(2n ** 64n - 1n), 4_000, end],
    ['a truncated header', safetensorsBytes('{"a":'), 4_000, 'is not a JSON object'],
    ['a list', safetensorsBytes('[]'), 4_000, 'is not a JSON object'],
    ['text that is not UTF-8', Buffer.concat([u64(2), Buffer.from([0xff, 0xfe])]), 4_000, 'is not UTF-8'],
    ['negative offsets', safetensorsBytes({ a: { data_offsets: [-5, 5] } }), 4_000, outside],
    ['reversed offsets', safetensorsBytes({ a: { data_offsets: [5, 1] } }), 4_000, outside],
    ['a tensor past the end of the file', safetensorsBytes({ a: { data_offsets: [0, 4_000] } }), 4_000, outside],
    ['a fractional offset', safetensorsBytes({ a: { data_offsets: [0, 1.5] } }), 4_000, outside],
    ['three offsets', safetensorsBytes({ a: { data_offsets: [0, 1, 2] } }), 4_000, outside],
    ['a text as an offset', safetensorsBytes({ a: { data_offsets: ['0', 1] } }), 4_000, outside],
    ['a number in place of a tensor', safetensorsBytes({ a: 5 }), 4_000, outside],
    ['a tensor without offsets', safetensorsBytes({ a: null }), 4_000, outside],
  ];

  it.each(damaged)('is rejected for %s', (_name, bytes, fileBytes, why) => {
    expect(safetensorsHeader(bytes, fileBytes)).toEqual({ kind: 'damaged', why });
  });

  it('never throws, whatever the bytes are', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.integer({ min: 0, max: 400 }), (bytes, size) => {
        expect(['more', 'damaged', 'known']).toContain(safetensorsHeader(bytes, size).kind);
      }),
    );
  });
});
