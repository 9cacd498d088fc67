import { type Header, mostTensors, needsUntil, type TensorBytes } from './file-header.ts';

const lengthBytes = 8;

/**
 * The tensors of a safetensors file: eight bytes of length, then JSON with a range of bytes for each name.
 *
 *     {"model.norm.weight":{"dtype":"BF16","shape":[7168],"data_offsets":[0,14336]}}
 *
 * @param start the file from its beginning, as far as it was read
 * @see https://huggingface.co/docs/safetensors: format
 */
export function safetensorsHeader(
  start: Uint8Array,
  fileBytes: number,
): Header<{ readonly tensors: readonly TensorBytes[] }> {
  if (start.length < lengthBytes) return needsUntil(lengthBytes, fileBytes);
  const length = new DataView(start.buffer, start.byteOffset, start.byteLength).getBigUint64(0, true);
  const end = lengthBytes + Number(length);
  if (end > start.length) return needsUntil(end, fileBytes);
  const text = utf8(start.subarray(lengthBytes, end));
  if (text === undefined) return { kind: 'damaged', why: 'is not UTF-8' };
  const entries = jsonEntries(text);
  if (entries === undefined) return { kind: 'damaged', why: 'is no JSON object' };
  if (entries.length > mostTensors) return { kind: 'damaged', why: `names more than ${mostTensors} tensors` };
  const tensors: TensorBytes[] = [];
  for (const [name, value] of entries) {
    if (name === '__metadata__') continue;
    const bytes = sizeOf(value, fileBytes - end);
    if (bytes === undefined) return { kind: 'damaged', why: 'has a tensor that does not lie in the file' };
    tensors.push({ name, bytes });
  }
  return { kind: 'known', tensors };
}

/** The text of these bytes; undefined when they are no UTF-8. */
export function utf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** The members of a text that is one JSON object; undefined for anything else. */
export function jsonEntries(text: string): readonly (readonly [string, unknown])[] | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.entries(value) : undefined;
  } catch {
    return undefined;
  }
}

function sizeOf(value: unknown, dataBytes: number): number | undefined {
  if (typeof value !== 'object' || value === null || !('data_offsets' in value)) return undefined;
  const { data_offsets: offsets } = value;
  if (!Array.isArray(offsets) || offsets.length !== 2) return undefined;
  const [from, to]: readonly unknown[] = offsets;
  const isInside = Number.isSafeInteger(from) && Number.isSafeInteger(to);
  if (!isInside || typeof from !== 'number' || typeof to !== 'number') return undefined;
  return from >= 0 && to >= from && to <= dataBytes ? to - from : undefined;
}
