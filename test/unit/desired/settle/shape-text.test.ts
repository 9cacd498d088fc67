import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { emptyLock } from '../../../../src/config/lock.ts';
import { renderLock } from '../../../../src/config/lock-text.ts';
import { settleShapes } from '../../../../src/desired/settle/settle.ts';
import { parseShape, shapeText } from '../../../../src/desired/settle/shape-text.ts';
import { parseLock } from '../../../../src/engine/load-cluster.ts';
import type { DesiredModel } from '../../../../src/model/desired.ts';
import { digest } from '../../../../src/model/digest.ts';
import type { ModelShape } from '../../../../src/model/model-shape.ts';
import { evenShape } from '../../engine/plan/fit-shapes.ts';

const size = fc.nat(Number.MAX_SAFE_INTEGER);
const positive = fc.integer({ min: 1, max: 1e9 });
const layer = fc.record(
  { bytes: size, sharded: size, cachePerToken: size, window: positive },
  { requiredKeys: ['bytes', 'sharded', 'cachePerToken'] },
);
const required = fc.record({
  format: fc.constantFrom('safetensors' as const, 'gguf' as const),
  architecture: fc.stringMatching(/^[a-z0-9][a-z0-9_.-]{0,20}$/),
  hidden: positive,
  heads: positive,
  kvHeads: positive,
  headDim: positive,
  attention: fc.oneof(
    fc.constant({ kind: 'gqa' } as const),
    fc.record({ kind: fc.constant('mla' as const), latentDim: positive, ropeDim: positive }),
  ),
  dims: fc.record(
    { intermediate: positive, moeIntermediate: positive, sharedIntermediate: positive },
    { requiredKeys: [] },
  ),
  hasOwnCode: fc.boolean(),
  layers: fc.array(layer, { minLength: 1, maxLength: 8 }),
  embeddingBytes: size,
  outputBytes: size,
  otherBytes: size,
  lastNormBytes: size,
  largestTensorBytes: size,
  stateBytes: size,
});
const optional = fc.record(
  {
    classes: fc.array(fc.stringMatching(/^[A-Z][A-Za-z0-9]{0,20}$/), { minLength: 1, maxLength: 2 }),
    vocabulary: positive,
    maxContext: positive,
    quant: fc.record({ bits: positive, group: positive }),
  },
  { requiredKeys: [] },
);
const shapes: fc.Arbitrary<ModelShape> = fc.tuple(required, optional).map(([one, more]) => ({ ...one, ...more }));

const of = digest('a'.repeat(64));

/** A shape's text with one field of another value. */
const changed = ([key, value]: readonly unknown[]) =>
  JSON.stringify({ ...JSON.parse(shapeText(evenShape(1))), [String(key)]: value });

describe('a shape in the lock', () => {
  it('is read exactly as it was written', () => {
    fc.assert(
      fc.property(shapes, (shape) => {
        expect(parseShape(shapeText(shape))).toEqual(shape);
        const lock = { ...emptyLock('cluster.lock'), shapes: { kimi: { of, shape } } };
        const read = parseLock(renderLock(lock), 'cluster.lock');
        expect(read.diagnostics).toEqual([]);
        expect(read.lock).toEqual(lock);
      }),
      { numRuns: 40 },
    );
  });

  it('contains equal layers once, at most 2048', () => {
    const text = shapeText(evenShape(2_048, { cache: 7, count: 2_048 }));
    expect(text.match(/count/g)).toHaveLength(1);
    expect(parseShape(text)?.layers).toHaveLength(2_048);
  });

  it.each([
    '',
    '[]',
    'null',
    '{',
    '{"format":"safetensors"}',
    ...[2_049, 0, -1].map((count) => shapeText(evenShape(1)).replace('"count":61', `"count":${count}`)),
    ...[
      ['hidden', 0],
      ['heads', 0.5],
      ['kvHeads', '8'],
      ['headDim', -1],
      ['format', 'onnx'],
      ['architecture', 1],
    ].map(changed),
    ...[
      ['hasOwnCode', 'no'],
      ['layers', []],
      ['attention', { kind: 'mla', latentDim: 1 }],
      ['attention', { kind: 'mla', ropeDim: 1 }],
    ].map(changed),
    ...['bytes', 'sharded', 'cachePerToken'].map((key) => shapeText(evenShape(1)).replace(`"${key}"`, '"other"')),
  ])('is rejected if its text is %j', (text) => {
    expect(parseShape(text)).toBeUndefined();
  });

  it('never throws for any text', () => {
    fc.assert(fc.property(fc.json(), (text) => void parseShape(text)));
  });
});

describe('settled shapes', () => {
  const shape = evenShape(6_100);
  const model: DesiredModel = { name: 'kimi', source: { kind: 'controller', folder: '/m' }, files: [], digest: of };
  const other = digest('b'.repeat(64));

  it('come from the lock only for exactly the same files', () => {
    expect(settleShapes([model], { shapes: { kimi: { of, shape } } })).toEqual({
      models: [{ ...model, shape }],
      shapes: { kimi: { of, shape } },
    });
    expect(settleShapes([model], { shapes: { kimi: { of: other, shape } } })).toEqual({ models: [model] });
  });

  it('include the shapes that were read, or the reasons why none could be read', () => {
    expect(settleShapes([model], {}, { kimi: { kind: 'known', shape } }).shapes).toEqual({ kimi: { of, shape } });
    expect(settleShapes([model], {}, { kimi: { kind: 'unknown', why: 'it is a secret' } })).toEqual({
      models: [{ ...model, shapeUnknown: 'it is a secret' }],
    });
  });

  it('omit the shape of a model that has left the file', () => {
    expect(settleShapes([], { shapes: { kimi: { of, shape } } })).toEqual({ models: [] });
  });
});
