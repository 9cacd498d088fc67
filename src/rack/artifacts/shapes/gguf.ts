import { type ByteCursor, byteCursor } from './byte-cursor.ts';
import { type Header, mostTensors, type TensorBytes } from './file-header.ts';
import { ggufBlocks, ggufValueBytes } from './gguf-types.ts';

/** A value of the metadata; of a list of texts only how many there are is kept, of a long list nothing else either. */
export type GgufValue =
  | { readonly kind: 'number'; readonly value: number }
  | { readonly kind: 'text'; readonly value: string }
  | { readonly kind: 'list'; readonly count: number; readonly numbers: readonly number[] };

/** Metadata and tensors of one GGUF file. */
export interface GgufHeader {
  readonly metadata: ReadonlyMap<string, GgufValue>;
  readonly tensors: readonly TensorBytes[];
}

const magic = [0x47, 0x47, 0x55, 0x46];
const mostKeys = 100_000;
const mostKeyBytes = 65_535;
const mostTextBytes = 8 * 2 ** 20;
const mostKept = 4_096;
const textType = 8;
const listType = 9;

/**
 * Metadata and tensor table of a GGUF file, version 2 or 3.
 *
 * @param start the file from its beginning, as far as it was read
 * @see ggml: `docs/gguf.md`
 */
export function ggufHeader(start: Uint8Array, fileBytes: number): Header<GgufHeader> {
  const cursor = byteCursor(start, fileBytes);
  if (magic.some((byte) => cursor.value(0) !== byte)) cursor.fail('does not begin with GGUF');
  const version = cursor.u32();
  if (version !== 2 && version !== 3) cursor.fail(`has version ${version}, and 2 and 3 are known`);
  const [tensorCount, keyCount] = [cursor.u64(), cursor.u64()];
  if (tensorCount > mostTensors) cursor.fail(`announces ${tensorCount} tensors`);
  if (keyCount > mostKeys) cursor.fail(`announces ${keyCount} keys`);
  const metadata = readMetadata(cursor, keyCount);
  const table = readTable(cursor, tensorCount);
  const end = cursor.end();
  if (end !== undefined) return end;
  const alignment = numberOf(metadata.get('general.alignment')) ?? 32;
  const dataBytes = fileBytes - Math.ceil(cursor.at() / alignment) * alignment;
  const tensors = sizesOf(table, dataBytes);
  return tensors === undefined
    ? { kind: 'damaged', why: 'has a tensor that does not lie in the file' }
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
  if (!ggufValueBytes.has(type)) cursor.fail(`has a value of the unknown type ${type}`);
  return { kind: 'number', value: cursor.value(type) };
}

function readList(cursor: ByteCursor): GgufValue {
  const type = cursor.u32();
  const count = cursor.u64();
  const size = ggufValueBytes.get(type);
  if (type === textType) {
    for (let index = 0; index < count && cursor.end() === undefined; index += 1) cursor.skip(cursor.u64());
    return { kind: 'list', count, numbers: [] };
  }
  if (size === undefined) {
    cursor.fail(`has a list of the unknown type ${type}`);
    return { kind: 'list', count: 0, numbers: [] };
  }
  if (count > mostKept) {
    cursor.skip(count * size);
    return { kind: 'list', count, numbers: [] };
  }
  return { kind: 'list', count, numbers: Array.from({ length: count }, () => cursor.value(type)) };
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
    if (dimensions > 8) cursor.fail(`has a tensor of ${dimensions} dimensions`);
    let weights = 1;
    for (let at = 0; at < dimensions && cursor.end() === undefined; at += 1) weights *= cursor.u64();
    table.push({ name, weights, type: cursor.u32(), offset: cursor.u64() });
  }
  return table;
}

/** Undefined when one reaches behind the end of the file. */
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
