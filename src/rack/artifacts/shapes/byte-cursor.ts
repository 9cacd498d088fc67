import { needsUntil } from './file-header.ts';
import { utf8 } from './safetensors.ts';

/** Why reading on makes no sense. */
export type CursorEnd =
  | { readonly kind: 'more'; readonly bytes: number }
  | { readonly kind: 'damaged'; readonly why: string };

/**
 * Reads numbers and texts one after the other, little-endian. The first that is not there, or too large, ends it: from
 * then on everything is 0 or empty, and {@link ByteCursor.end} says why.
 */
export interface ByteCursor {
  readonly at: () => number;
  readonly end: () => CursorEnd | undefined;
  readonly fail: (why: string) => void;
  readonly skip: (bytes: number) => void;
  /** A number of the metadata of this size; whether it is signed or a fraction goes by its type. */
  readonly value: (type: number) => number;
  readonly u32: () => number;
  /** Fails above 2^53: no length, no offset and no dimension is that large. */
  readonly u64: () => number;
  /** Length and bytes; fails when they are no UTF-8 or more than `most`. */
  readonly text: (most: number) => string;
}

/** A cursor at the beginning of a file of which these bytes were read. */
export function byteCursor(bytes: Uint8Array, fileBytes: number): ByteCursor {
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
  const number = (count: number, read: (from: number) => number): number => {
    const from = take(count);
    return from === undefined ? 0 : read(from);
  };
  const u64 = (): number => {
    const found = number(8, (from) => Number(view.getBigUint64(from, true)));
    if (Number.isSafeInteger(found)) return found;
    fail('has a number above 2^53');
    return 0;
  };
  const readers: Readonly<Record<number, () => number>> = {
    0: () => number(1, (from) => view.getUint8(from)),
    1: () => number(1, (from) => view.getInt8(from)),
    2: () => number(2, (from) => view.getUint16(from, true)),
    3: () => number(2, (from) => view.getInt16(from, true)),
    4: () => number(4, (from) => view.getUint32(from, true)),
    5: () => number(4, (from) => view.getInt32(from, true)),
    6: () => number(4, (from) => view.getFloat32(from, true)),
    7: () => number(1, (from) => view.getUint8(from)),
    10: u64,
    11: () => number(8, (from) => Number(view.getBigInt64(from, true))),
    12: () => number(8, (from) => view.getFloat64(from, true)),
  };
  const text = (most: number): string => {
    const length = u64();
    if (length > most) fail(`has a text of ${length} bytes where ${most} are the most`);
    const from = take(length);
    const found = from === undefined ? '' : utf8(bytes.subarray(from, from + length));
    if (found === undefined) fail('has a name that is not UTF-8');
    return found ?? '';
  };
  return {
    at: () => position,
    end: () => ended,
    fail,
    skip: (count) => void take(count),
    value: (type) => readers[type]?.() ?? 0,
    u32: () => number(4, (from) => view.getUint32(from, true)),
    u64,
    text,
  };
}
