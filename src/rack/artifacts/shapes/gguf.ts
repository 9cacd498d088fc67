import { given } from '../../../model/given.ts';
import type { AttentionShape, ModelShape, ShapeFact } from '../../../model/model-shape.ts';
import { type Header, mostTensors, needsUntil, type TensorBytes, utf8, weighTensors } from './safetensors.ts';
import { type LayerCache, mostLayers, tokenBytes } from './safetensors-shape.ts';

/** A metadata value. Lists of texts, and long lists of numbers, keep only their length. */
type GgufValue =
  | { readonly kind: 'number'; readonly value: number }
  | { readonly kind: 'text'; readonly value: string }
  | { readonly kind: 'list'; readonly count: number; readonly numbers: readonly number[] };

export interface GgufHeader {
  readonly metadata: ReadonlyMap<string, GgufValue>;
  readonly tensors: readonly TensorBytes[];
}

const magic = [0x47, 0x47, 0x55, 0x46];
const mostKeys = 100_000;
const mostKeyBytes = 65_535;
const mostTextBytes = 8 * 2 ** 20;
const mostRead = 4_096;
const textType = 8;
const listType = 9;
const u32Type = 4;
const u64Type = 10;

/**
 * Reads the metadata and tensor table of a GGUF file, version 2 or 3.
 * @param start the beginning of the file, as far as it was read
 * @see ggml: `docs/gguf.md`
 */
export function ggufHeader(start: Uint8Array, fileBytes: number): Header<GgufHeader> {
  const cursor = byteCursor(start, fileBytes);
  if (magic.some((byte) => cursor.value(0) !== byte)) cursor.fail('does not begin with GGUF');
  const version = cursor.u32();
  if (version !== 2 && version !== 3) cursor.fail(`has version ${version}, but only 2 and 3 are supported`);
  const [tensorCount, keyCount] = [cursor.u64(), cursor.u64()];
  if (tensorCount > mostTensors) cursor.fail(`declares too many tensors (${tensorCount})`);
  if (keyCount > mostKeys) cursor.fail(`declares too many keys (${keyCount})`);
  const metadata = readMetadata(cursor, keyCount);
  const table = readTable(cursor, tensorCount);
  const end = cursor.end();
  if (end !== undefined) return end;
  const alignment = numberOf(metadata.get('general.alignment')) ?? 32;
  const dataBytes = fileBytes - Math.ceil(cursor.at() / alignment) * alignment;
  const tensors = sizesOf(table, dataBytes);
  return tensors === undefined
    ? { kind: 'damaged', why: 'has a tensor outside the file' }
    : { kind: 'known', metadata, tensors };
}

const numberOf = (value: GgufValue | undefined): number | undefined =>
  value?.kind === 'number' && value.value >= 1 ? value.value : undefined;

function readMetadata(cursor: ByteCursor, count: number): ReadonlyMap<string, GgufValue> {
  const metadata = new Map<string, GgufValue>();
  for (let index = 0; index < count && cursor.end() === undefined; index += 1) {
    const key = cursor.text(mostKeyBytes);
    metadata.set(key, readValue(cursor, cursor.u32()));
  }
  return metadata;
}

function readValue(cursor: ByteCursor, type: number): GgufValue {
  if (type === textType) return { kind: 'text', value: cursor.text(mostTextBytes) };
  if (type === listType) return readList(cursor);
  if (!ggufNumbers.has(type)) cursor.fail(`has a value of unknown type ${type}`);
  return { kind: 'number', value: cursor.value(type) };
}

function readList(cursor: ByteCursor): GgufValue {
  const type = cursor.u32();
  const count = cursor.u64();
  const size = ggufNumbers.get(type)?.bytes;
  let numbers: readonly number[] = [];
  if (type === textType) {
    for (let index = 0; index < count && cursor.end() === undefined; index += 1) cursor.skip(cursor.u64());
  } else if (size === undefined) cursor.fail(`has a list of unknown type ${type}`);
  else if (count > mostRead) cursor.skip(count * size);
  else numbers = Array.from({ length: count }, () => cursor.value(type));
  return { kind: 'list', count, numbers };
}

interface TableEntry {
  readonly name: string;
  readonly weights: number;
  readonly type: number;
  readonly offset: number;
}

function readTable(cursor: ByteCursor, count: number): readonly TableEntry[] {
  const table: TableEntry[] = [];
  for (let index = 0; index < count && cursor.end() === undefined; index += 1) {
    const name = cursor.text(mostKeyBytes);
    const dimensions = cursor.u32();
    if (dimensions > 8) cursor.fail(`has a tensor with ${dimensions} dimensions`);
    let weights = 1;
    for (let at = 0; at < dimensions && cursor.end() === undefined; at += 1) weights *= cursor.u64();
    table.push({ name, weights, type: cursor.u32(), offset: cursor.u64() });
  }
  return table;
}

/** Undefined if a tensor extends past the end of the file. */
function sizesOf(table: readonly TableEntry[], dataBytes: number): readonly TensorBytes[] | undefined {
  const starts = [...new Set(table.map(({ offset }) => offset))].sort((a, b) => a - b);
  const nextStart = new Map(starts.map((start, index) => [start, starts[index + 1] ?? dataBytes]));
  const tensors = table.map(({ name, weights, type, offset }) => {
    const block = ggufBlocks.get(type);
    const upToNext = (nextStart.get(offset) ?? dataBytes) - offset;
    const bytes = block === undefined ? upToNext : (weights / block[0]) * block[1];
    return { name, bytes, isInside: bytes >= 0 && Number.isSafeInteger(bytes) && offset + bytes <= dataBytes };
  });
  return tensors.every(({ isInside }) => isInside) ? tensors.map(({ name, bytes }) => ({ name, bytes })) : undefined;
}
/**
 * Tensor types of a GGUF file: weights per block, and bytes per block. For any other type, the start of the next tensor
 * gives the size.
 * @see ggml: `ggml.h` (enum ggml_type), `ggml-common.h` (sizes of blocks)
 */
const ggufBlocks: ReadonlyMap<number, readonly [weights: number, bytes: number]> = new Map(
  (
    [
      [1, { 0: 4, 1: 2, 24: 1, 25: 2, 26: 4, 27: 8, 28: 8, 30: 2 }],
      [32, { 2: 18, 3: 20, 6: 22, 7: 24, 8: 34, 9: 36, 20: 18, 39: 17 }],
      [256, { 10: 84, 11: 110, 12: 144, 13: 176, 14: 210, 15: 292 }],
      [256, { 16: 66, 17: 74, 18: 98, 19: 50, 21: 110, 22: 82, 23: 136, 29: 56, 34: 54, 35: 66 }],
    ] as const
  ).flatMap(([weights, bytesByType]) =>
    Object.entries(bytesByType).map(([type, bytes]) => [Number(type), [weights, bytes]] as const),
  ),
);

interface NumberType {
  readonly bytes: number;
  readonly read: (view: DataView, from: number) => number;
}

/** The number types of the metadata by their codes in the file; texts (8) and lists (9) have no fixed size. */
const ggufNumbers: ReadonlyMap<number, NumberType> = new Map([
  [0, { bytes: 1, read: (view, from) => view.getUint8(from) }],
  [1, { bytes: 1, read: (view, from) => view.getInt8(from) }],
  [2, { bytes: 2, read: (view, from) => view.getUint16(from, true) }],
  [3, { bytes: 2, read: (view, from) => view.getInt16(from, true) }],
  [u32Type, { bytes: 4, read: (view, from) => view.getUint32(from, true) }],
  [5, { bytes: 4, read: (view, from) => view.getInt32(from, true) }],
  [6, { bytes: 4, read: (view, from) => view.getFloat32(from, true) }],
  [7, { bytes: 1, read: (view, from) => view.getUint8(from) }],
  [u64Type, { bytes: 8, read: (view, from) => Number(view.getBigUint64(from, true)) }],
  [11, { bytes: 8, read: (view, from) => Number(view.getBigInt64(from, true)) }],
  [12, { bytes: 8, read: (view, from) => view.getFloat64(from, true) }],
] satisfies [number, NumberType][]);

type CursorEnd = { readonly kind: 'more'; readonly bytes: number } | { readonly kind: 'damaged'; readonly why: string };

/**
 * Reads numbers and texts in sequence, little-endian. It stops at the first value that is missing or too large: from
 * then on every value is 0 or empty, and `end` gives the reason.
 */
function byteCursor(bytes: Uint8Array, fileBytes: number) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let position = 0;
  let ended: CursorEnd | undefined;
  const fail = (why: string): void => {
    ended ??= { kind: 'damaged', why };
  };
  const take = (count: number): number | undefined => {
    if (ended !== undefined) return undefined;
    const from = position;
    if (from + count > bytes.length) {
      ended = needsUntil(from + count, fileBytes);
      return undefined;
    }
    position += count;
    return from;
  };
  const value = (type: number): number => {
    const number = ggufNumbers.get(type);
    const from = number && take(number.bytes);
    return number === undefined || from === undefined ? 0 : number.read(view, from);
  };
  const u64 = (): number => {
    const found = value(u64Type);
    if (Number.isSafeInteger(found)) return found;
    fail('has a number above 2^53');
    return 0;
  };
  const text = (most: number): string => {
    const length = u64();
    if (length > most) fail(`has a text of ${length} bytes, but at most ${most} are allowed`);
    const from = take(length);
    const found = from === undefined ? '' : utf8(bytes.subarray(from, from + length));
    if (found === undefined) fail('has a name that is not UTF-8');
    return found ?? '';
  };
  return {
    at: (): number => position,
    end: (): CursorEnd | undefined => ended,
    fail,
    skip: (count: number): void => void take(count),
    /** A number of this metadata type; the type sets its size and format. */
    value: (type: number): number => (type === u64Type ? u64() : value(type)),
    u32: (): number => value(u32Type),
    /** Fails above 2^53: no length, no offset and no dimension is that large. */
    u64,
    /** Reads a length and that many bytes. Fails if the bytes are not UTF-8 or if there are more than `most`. */
    text,
  };
}

type ByteCursor = ReturnType<typeof byteCursor>;

const isCount = (value: number | undefined): value is number =>
  value !== undefined && Number.isInteger(value) && value >= 0 && value <= 1e9;

/** Reads metadata numbers by the part of their key that follows the architecture. */
function keysOf(metadata: GgufHeader['metadata']) {
  const named: GgufValue | undefined = metadata.get('general.architecture');
  if (named?.kind !== 'text' || !/^[a-z0-9][a-z0-9_.-]{0,63}$/i.test(named.value)) return undefined;
  const architecture = named.value;
  /** The value for a layer; a list has one entry per layer. */
  const at = (key: string, layer: number): number | undefined => {
    const value = metadata.get(`${architecture}.${key}`);
    const found = value?.kind === 'number' ? value.value : value?.kind === 'list' ? value.numbers[layer] : undefined;
    return isCount(found) ? found : undefined;
  };
  return { architecture, at, one: (key: string) => at(key, 0) };
}

type Keys = NonNullable<ReturnType<typeof keysOf>>;

/**
 * The shape of a GGUF model from the metadata of its first file and the tensors of all its files.
 *
 * @see ggml: `docs/gguf.md`; llama.cpp: `llama-arch.cpp` (names of keys)
 */
export function ggufShape(metadata: GgufHeader['metadata'], tensors: readonly TensorBytes[]): ShapeFact {
  const keys = keysOf(metadata);
  if (keys === undefined) return { kind: 'unknown', why: 'its GGUF file names no architecture' };
  const layerCount = keys.one('block_count');
  const hidden = keys.one('embedding_length');
  const heads = keys.one('attention.head_count');
  if (!layerCount || !hidden || !heads) {
    return { kind: 'unknown', why: 'its GGUF file does not give layers, hidden size and heads' };
  }
  if (layerCount > mostLayers)
    return { kind: 'unknown', why: `its GGUF file declares too many layers (${layerCount})` };
  const weighed = weighTensors(tensors, layerCount);
  if (weighed.layers.some(({ bytes }) => bytes === 0)) {
    return { kind: 'unknown', why: `its GGUF files lack some of the ${layerCount} layers that they declare` };
  }
  const caches = Array.from({ length: layerCount }, (_, layer) => cacheOf(keys, metadata, layer));
  const shape: ModelShape = {
    format: 'gguf',
    ...dimensionsOf(keys, metadata, { layerCount, hidden, heads }),
    ...weighed,
    layers: weighed.layers.map((layer, index) => ({ ...layer, ...(caches[index] ?? { cachePerToken: 0 }) })),
    stateBytes: 0,
  };
  return { kind: 'known', shape };
}

function dimensionsOf(
  keys: Keys,
  metadata: GgufHeader['metadata'],
  { layerCount, hidden, heads }: Readonly<Record<'layerCount' | 'hidden' | 'heads', number>>,
) {
  const tokens = metadata.get('tokenizer.ggml.tokens');
  const vocabulary = tokens?.kind === 'list' ? tokens.count : keys.one('vocab_size');
  const maxContext = keys.one('context_length');
  const kvHeads = Array.from({ length: layerCount }, (_, layer) => kvHeadsOf(keys, layer)).filter((count) => count > 0);
  const [intermediate, moeIntermediate] = [keys.one('feed_forward_length'), keys.one('expert_feed_forward_length')];
  return {
    architecture: keys.architecture,
    hidden,
    heads,
    kvHeads: kvHeads.length === 0 ? heads : Math.min(...kvHeads),
    headDim: keys.one('attention.key_length') ?? Math.max(1, Math.floor(hidden / heads)),
    attention: attentionOf(keys),
    ...given({ vocabulary, maxContext }),
    dims: { ...(intermediate ? { intermediate } : {}), ...(moeIntermediate ? { moeIntermediate } : {}) },
    hasOwnCode: false,
  };
}

function attentionOf(keys: Keys): AttentionShape {
  const latentDim = keys.one('attention.kv_lora_rank');
  return latentDim ? { kind: 'mla', latentDim, ropeDim: keys.one('rope.dimension_count') ?? 0 } : { kind: 'gqa' };
}

const kvHeadsOf = (keys: Keys, layer: number): number =>
  keys.at('attention.head_count_kv', layer) ?? keys.at('attention.head_count', layer) ?? 0;

/** A window counts only if the file lists the layers that have one; otherwise the whole context is cached. */
function cacheOf(keys: Keys, metadata: GgufHeader['metadata'], layer: number): LayerCache {
  const usual = Math.floor((keys.one('embedding_length') ?? 0) / (keys.at('attention.head_count', layer) || 1));
  const cachePerToken = tokenBytes({
    kvHeads: kvHeadsOf(keys, layer),
    keyDim: keys.one('attention.key_length') ?? usual,
    valueDim: keys.one('attention.value_length') ?? usual,
    attention: attentionOf(keys),
  });
  const window = keys.one('attention.sliding_window');
  const pattern = metadata.get(`${keys.architecture}.attention.sliding_window_pattern`);
  const isWindowed =
    pattern?.kind === 'list'
      ? pattern.numbers[layer] === 1
      : pattern?.kind === 'number' && pattern.value > 1 && (layer + 1) % pattern.value !== 0;
  return { cachePerToken, ...(isWindowed && window ? { window } : {}) };
}
