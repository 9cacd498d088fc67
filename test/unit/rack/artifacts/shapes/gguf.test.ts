import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ggufHeader, ggufShape } from '../../../../../src/rack/artifacts/shapes/gguf.ts';
import { type GgufTensor, ggufBytes, text, u32, u64 } from './headers.ts';

const read = (bytes: Uint8Array, dataBytes = 0) => ggufHeader(bytes, bytes.length + dataBytes);

const f16 = 1;
const q4K = 12;
const metadata = {
  'general.architecture': 'llama',
  'llama.block_count': 2,
  'llama.embedding_length': 256,
  'llama.attention.head_count': 8,
  'llama.attention.head_count_kv': 2,
  'llama.context_length': 4_096,
  'llama.feed_forward_length': 512,
  'llama.expert_feed_forward_length': 3,
  'llama.rope.dimension_count': 64,
  'llama.attention.sliding_window': 128,
  'llama.vocab_size': 9,
  'tokenizer.ggml.tokens': ['<s>', 'a', 'b'],
};
const tensors: readonly GgufTensor[] = [
  { name: 'token_embd.weight', dims: [256, 3], type: f16, offset: 0 },
  { name: 'blk.0.attn_q.weight', dims: [256, 256], type: q4K, offset: 1_536 },
  { name: 'blk.0.attn_norm.weight', dims: [256], type: 0, offset: 38_400 },
  { name: 'blk.1.ffn_up.weight', dims: [256, 512], type: f16, offset: 39_424 },
  { name: 'output_norm.weight', dims: [256, 1, 1, 1, 1, 1, 1, 1], type: 0, offset: 301_568 },
];

/** The header of a complete file with these keys. */
function knownHeader(more: object = {}) {
  const header = read(ggufBytes({ ...metadata, ...more }, tensors), 302_592);
  if (header.kind !== 'known') throw new Error(JSON.stringify(header));
  return header;
}

describe('a GGUF header', () => {
  it("yields the metadata and each tensor's size by type", () => {
    const header = knownHeader();
    expect(header.tensors.map(({ bytes }) => bytes)).toEqual([1_536, 36_864, 1_024, 262_144, 1_024]);
    expect(header.metadata.get('llama.block_count')).toEqual({ kind: 'number', value: 2 });
    expect(header.metadata.get('tokenizer.ggml.tokens')).toEqual({ kind: 'list', count: 3, numbers: [] });
  });

  it('yields a shape with the cache size per token', () => {
    const header = knownHeader();
    expect(ggufShape(header.metadata, header.tensors)).toEqual({
      kind: 'known',
      shape: {
        format: 'gguf',
        architecture: 'llama',
        hidden: 256,
        heads: 8,
        kvHeads: 2,
        headDim: 32,
        attention: { kind: 'gqa' },
        vocabulary: 3,
        maxContext: 4_096,
        dims: { intermediate: 512, moeIntermediate: 3 },
        hasOwnCode: false,
        layers: [
          { bytes: 37_888, sharded: 36_864, cachePerToken: 256 },
          { bytes: 262_144, sharded: 262_144, cachePerToken: 256 },
        ],
        embeddingBytes: 1_536,
        outputBytes: 0,
        otherBytes: 1_024,
        lastNormBytes: 1_024,
        largestTensorBytes: 262_144,
        stateBytes: 0,
      },
    });
  });

  it("derives an unknown type's size from the next tensor, and has shapes as in golden/gguf.txt", async () => {
    const at = (type: number) => ({ name: `type ${type}`, dims: [256], type, offset: (41 - type) * 1_024 });
    const ofEachType = read(
      ggufBytes(
        {},
        Array.from({ length: 42 }, (_, type) => at(type)),
      ),
      42 * 1_024,
    );
    const variants: readonly (readonly [string, ...(readonly unknown[])])[] = [
      ['general.architecture', 'no/name', 5],
      ['llama.block_count', 0, 2_048, 2_049],
      ['llama.embedding_length', 0, 4, 300],
      ['llama.attention.head_count', 0, [8, 4]],
      ['llama.attention.head_count_kv', 0, [0, 4], [2, 1], 'none'],
      ['llama.attention.kv_lora_rank', 512],
      ['llama.attention.key_length', 100],
      ['llama.attention.value_length', 100],
      ['llama.attention.sliding_window_pattern', 1, 2, [true, false]],
      ['llama.feed_forward_length', 0],
      ['tokenizer.ggml.tokens', 'none'],
    ];
    const shapes = variants.flatMap(([key, ...values]) =>
      values.map((value) => {
        const { metadata: found, tensors: all } = knownHeader({ [key]: value });
        return `${key} ${JSON.stringify(value)}\n  ${JSON.stringify(ggufShape(found, all))}`;
      }),
    );
    const page = [JSON.stringify(ofEachType).replaceAll('},{', '},\n{'), ...shapes, ''].join('\n');
    await expect(page).toMatchFileSnapshot('golden/gguf.txt');
  });

  it('requests bytes only until its table is complete', () => {
    const whole = ggufBytes(metadata, tensors);
    const size = whole.length + 302_592;
    let have = 8;
    let rounds = 0;
    for (let found = ggufHeader(whole.subarray(0, have), size); found.kind === 'more'; rounds += 1) {
      expect(found.bytes).toBeGreaterThan(have);
      have = found.bytes;
      found = ggufHeader(whole.subarray(0, have), size);
    }
    expect(have).toBeLessThanOrEqual(whole.length);
    expect(rounds).toBeGreaterThan(1);
  });

  const start = (...parts: readonly Buffer[]): Buffer => Buffer.concat([Buffer.from('GGUF'), u32(3), ...parts]);
  const oneKey = (...parts: readonly Buffer[]): Buffer => start(u64(0), u64(1), ...parts);
  const oneTensor = (dims: number[]): Uint8Array => ggufBytes({}, [{ name: 'a', dims, type: f16, offset: 0 }]);
  const version1 = Buffer.concat([Buffer.from('GGUF'), u32(1), u64(0), u64(0)]);
  const end = 'continues past the end of the file';
  const damaged: readonly (readonly [string, Uint8Array, number, string])[] = [
    ['another format', Buffer.from('PK\u0003\u0004aaaaaaaaaaaaaaaaaaaaaaa'), 4_000, 'does not begin with GGUF'],
    ['version 1', version1, 4_000, 'has version 1, but only 2 and 3 are supported'],
    ['a truncated header', start(u64(1), u64(0)), 24, end],
    ['too many tensors', start(u64(1_000_001), u64(0)), 4_000, 'declares too many tensors (1000001)'],
    ['a million tensors in 24 bytes', start(u64(1e6), u64(0)), 24, end],
    ['too many keys', start(u64(0), u64(100_001)), 4_000, 'declares too many keys (100001)'],
    ['many keys in 24 bytes', start(u64(0), u64(1e5)), 24, end],
    ['a long key in 32 bytes', oneKey(u64(65_535)), 32, end],
    ['a key that is too long', oneKey(u64(65_536)), 2e10, 'has a text of 65536 bytes, but at most 65535 are allowed'],
    ['a number above 2^53', oneKey(u64(2n ** 63n)), 2e10, 'has a number above 2^53'],
    ['an endless list', oneKey(text('a'), u32(9), u32(4), u64(2n ** 52n)), 2e10, end],
    ['a list of lists', oneKey(text('a'), u32(9), u32(9), u64(1)), 4_000, 'has a list of unknown type 9'],
    ['a value of an unknown type', oneKey(text('a'), u32(77)), 4_000, 'has a value of unknown type 77'],
    ['a name that is not UTF-8', oneKey(u64(1), Buffer.from([0xff])), 4_000, 'has a name that is not UTF-8'],
    ['a tensor past the end of the file', oneTensor([1_969]), 4_000, 'has a tensor outside the file'],
    ['a tensor of nine dimensions', oneTensor(Array(9).fill(1)), 4_000, 'has a tensor with 9 dimensions'],
  ];

  it.each([
    [0, 'c8', 200],
    [1, 'c8', -56],
    [2, 'c8ff', 65_480],
    [3, 'c8ff', -56],
    [4, 'c8ffffff', 4_294_967_240],
    [5, 'c8ffffff', -56],
    [6, '0000c03f', 1.5],
    [7, '01', 1],
    [10, 'c800000000000000', 200],
    [11, 'c8ffffffffffffff', -56],
    [12, '000000000000f83f', 1.5],
  ])('reads numbers of type %i: %s', (type, hex, value) => {
    const header = ggufHeader(oneKey(text('n'), u32(type), Buffer.from(hex, 'hex')), 4_000);
    expect(header).toEqual({ kind: 'known', metadata: new Map([['n', { kind: 'number', value }]]), tensors: [] });
  });

  it.each(damaged)('is rejected for %s', (_name, bytes, fileBytes, why) => {
    expect(ggufHeader(bytes, fileBytes)).toEqual({ kind: 'damaged', why });
  });

  it('never throws, whatever is cut off or changed', () => {
    const whole = ggufBytes(metadata, tensors);
    fc.assert(
      fc.property(fc.nat(whole.length - 1), fc.nat(255), fc.nat(whole.length), (at, byte, cut) => {
        const changed = Buffer.from(whole);
        changed[at] = byte;
        const found = ggufHeader(changed.subarray(0, cut), cut);
        expect(['more', 'damaged', 'known']).toContain(found.kind);
        if (found.kind === 'known') ggufShape(found.metadata, found.tensors);
      }),
      { numRuns: 300 },
    );
  });
});
