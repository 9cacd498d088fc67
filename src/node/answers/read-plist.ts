/** Property lists in Apple's XML form, as `plutil -extract KEYPATH xml1` prints them. @see plutil(1), plist(5) */

import { type Known, known } from '../../model/known.ts';
import type { Answer } from '../../model/probe.ts';
import { garbled, readJson, readText } from './read-answer.ts';

/** A parsed value. `data` and dates become null, because JSON cannot represent them. */
interface Read {
  readonly value: unknown;
}

interface Cursor {
  readonly text: string;
  at: number;
  depth: number;
}

/** Deeper than any macOS property list. The limit keeps a hostile answer from exhausting the stack. */
const mostDepth = 64;

const head = /^<\?xml [^<>]*\?>\s*<!DOCTYPE plist [^<>]*>\s*<plist version="1\.0">/;
const token = /\s*<(\/?)(key|string|integer|real|true|false|array|dict|data|date|plist)(\/?)>([^<]*)/y;
const entities: Readonly<Record<string, string>> = { '&lt;': '<', '&gt;': '>', '&amp;': '&' };

function next(cursor: Cursor) {
  token.lastIndex = cursor.at;
  const [whole = '', end = '', tag = '', empty = '', text = ''] = token.exec(cursor.text) ?? [];
  cursor.at += whole.length;
  return { isEnd: end !== '', tag, isEmpty: empty !== '', text };
}

/** Consumes an element's end tag; false if the element does not end here. */
function ends(cursor: Cursor, tag: string): boolean {
  const before = cursor.at;
  const one = next(cursor);
  const isIts = one.isEnd && !one.isEmpty && one.tag === tag && one.text.trim() === '';
  if (!isIts) cursor.at = before;
  return isIts;
}

/** The text of an element; undefined if it contains an entity that plutil does not write. */
function plain(text: string): string | undefined {
  const isKnown = (text.match(/&[^;]*;?/g) ?? []).every((one) => Object.hasOwn(entities, one));
  return isKnown ? text.replace(/&[a-z]+;/g, (one) => entities[one] ?? one) : undefined;
}

function scalar(tag: string, text: string): Read | undefined {
  if (tag === 'data' || tag === 'date') return { value: null };
  if (tag === 'string') {
    const value = plain(text);
    return value === undefined ? undefined : { value };
  }
  const isNumber = /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(text);
  return isNumber && (tag === 'integer' || tag === 'real') ? { value: Number(text) } : undefined;
}

function element(cursor: Cursor): Read | undefined {
  const { isEnd, tag, isEmpty, text } = next(cursor);
  const isBlank = text.trim() === '';
  if (isEnd || (isEmpty && !isBlank)) return undefined;
  if (tag === 'true' || tag === 'false') return isEmpty ? { value: tag === 'true' } : undefined;
  if (tag === 'dict') return isEmpty ? { value: {} } : isBlank ? nested(cursor, dict) : undefined;
  if (tag === 'array') return isEmpty ? { value: [] } : isBlank ? nested(cursor, array) : undefined;
  if (isEmpty) return scalar(tag, '');
  return ends(cursor, tag) ? scalar(tag, text) : undefined;
}

function nested(cursor: Cursor, read: (cursor: Cursor) => Read | undefined): Read | undefined {
  if (cursor.depth === mostDepth) return undefined;
  cursor.depth += 1;
  const found = read(cursor);
  cursor.depth -= 1;
  return found;
}

function array(cursor: Cursor): Read | undefined {
  const value: unknown[] = [];
  while (!ends(cursor, 'array')) {
    const one = element(cursor);
    if (one === undefined) return undefined;
    value.push(one.value);
  }
  return { value };
}

function dict(cursor: Cursor): Read | undefined {
  const entries = new Map<string, unknown>();
  while (!ends(cursor, 'dict')) {
    const { isEnd, tag, isEmpty, text } = next(cursor);
    const key = isEnd || isEmpty || tag !== 'key' || !ends(cursor, 'key') ? undefined : plain(text);
    const one = key === undefined ? undefined : element(cursor);
    // A key that occurs twice is ambiguous.
    if (key === undefined || one === undefined || entries.has(key)) return undefined;
    entries.set(key, one.value);
  }
  return { value: Object.fromEntries(entries) };
}

/**
 * The value of an XML property list, or of the JSON in baselines of earlier versions. plutil cannot convert a list to
 * JSON if it contains `data` or dates, as services with 802.1X or a certificate do.
 */
export function readPlist(answer: Answer | undefined): Known<unknown> {
  const text = readText(answer, { isSelfEnding: true });
  if (text.kind === 'unknown') return text;
  if (!text.value.startsWith('<')) return readJson(answer);
  const cursor = { text: text.value, at: head.exec(text.value)?.[0].length ?? 0, depth: 0 };
  const read = element(cursor);
  const isWhole = read !== undefined && ends(cursor, 'plist') && cursor.at === cursor.text.length;
  return isWhole ? known(read.value) : garbled(answer, 'printed an invalid property list');
}
