/** A value in a property list; dates and data are not supported. */
export type PlistValue = string | number | boolean | readonly PlistValue[] | PlistDict;

/** A dictionary of a property list, in file order. */
export interface PlistDict {
  readonly [key: string]: PlistValue;
}

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

const isArray = (value: PlistValue): value is readonly PlistValue[] => Array.isArray(value);

export const isDict = (value: PlistValue): value is PlistDict => typeof value === 'object' && !isArray(value);

/** The value at this key path; undefined if a key is missing. */
export function valueAt(value: PlistValue | undefined, [key, ...rest]: readonly string[]): PlistValue | undefined {
  if (key === undefined || value === undefined) return value;
  return isDict(value) && Object.hasOwn(value, key) ? valueAt(value[key], rest) : undefined;
}

/** The dictionary at this key path; empty if there is none. */
export function dictAt(dict: PlistDict, ...path: readonly string[]): PlistDict {
  const value = valueAt(dict, path);
  return value !== undefined && isDict(value) ? value : {};
}

/** Sets a value at a key path of a dictionary; missing dictionaries are created. */
export function withValue(dict: PlistDict, [key = '', ...rest]: readonly string[], value: PlistValue): PlistDict {
  return { ...dict, [key]: rest.length === 0 ? value : withValue(dictAt(dict, key), rest, value) };
}

function element(value: PlistValue, indent: string): string {
  if (typeof value === 'string') return `${indent}<string>${escaped(value)}</string>\n`;
  if (typeof value === 'number') return `${indent}<integer>${value}</integer>\n`;
  if (typeof value === 'boolean') return `${indent}<${value}/>\n`;
  const tag = isArray(value) ? 'array' : 'dict';
  const inside = isArray(value)
    ? value.map((one) => element(one, `${indent}\t`)).join('')
    : Object.entries(value)
        .map(([key, one]) => `${indent}\t<key>${escaped(key)}</key>\n${element(one, `${indent}\t`)}`)
        .join('');
  return inside === '' ? `${indent}<${tag}/>\n` : `${indent}<${tag}>\n${inside}${indent}</${tag}>\n`;
}

/** The property list in Apple's XML form. */
export const plistText = (value: PlistValue): string =>
  '<?xml version="1.0" encoding="UTF-8"?>\n' +
  '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">\n' +
  `<plist version="1.0">\n${element(value, '')}</plist>\n`;

/** A property list, or the reason why the text is invalid. */
type PlistReading =
  | { readonly kind: 'plist'; readonly value: PlistValue }
  | { readonly kind: 'refused'; readonly reason: string };

interface Cursor {
  readonly text: string;
  at: number;
}

/** Stops reading an invalid property list. */
function refuse({ text, at }: Cursor, reason: string): never {
  throw new SyntaxError(`${reason} (line ${text.slice(0, at).split('\n').length})`);
}

/** Consumes the next match of a sticky pattern; `undefined` if there is none. */
function take(cursor: Cursor, pattern: RegExp): RegExpExecArray | undefined {
  pattern.lastIndex = cursor.at;
  const match = pattern.exec(cursor.text) ?? undefined;
  if (match !== undefined) cursor.at = pattern.lastIndex;
  return match;
}

/** Consumes a match after whitespace and comments. */
function takeTag(cursor: Cursor, pattern: RegExp): RegExpExecArray | undefined {
  take(cursor, /(?:\s|<!--[\s\S]*?-->)*/y);
  return take(cursor, pattern);
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** Reads `text</tag>` and resolves its entities. */
function readLeaf(cursor: Cursor, tag: string): string {
  const [raw = ''] = take(cursor, /[^<]*/y) ?? [];
  const text = raw.replaceAll(/&([^;&]{0,10});?/g, (whole, name: string) => {
    const [, digits] = /^#(\d{1,7})$/.exec(name) ?? [];
    if (digits !== undefined && Number(digits) <= 0x10ffff) return String.fromCodePoint(Number(digits));
    const known = whole.endsWith(';') && Object.hasOwn(entities, name) ? entities[name] : undefined;
    return known ?? refuse(cursor, 'an unknown entity');
  });
  return take(cursor, new RegExp(`</${tag}>`, 'y')) === undefined ? refuse(cursor, `<${tag}> has no end tag`) : text;
}

function readNumber(cursor: Cursor, tag: 'integer' | 'real'): number {
  const text = readLeaf(cursor, tag);
  const form = tag === 'integer' ? /^-?\d{1,15}$/ : /^-?\d{1,15}(\.\d{1,15})?$/;
  return form.test(text.trim()) ? Number(text) : refuse(cursor, `<${tag}> does not contain a number`);
}

function readArray(cursor: Cursor): readonly PlistValue[] {
  const values: PlistValue[] = [];
  while (takeTag(cursor, /<\/array>/y) === undefined) values.push(readValue(cursor));
  return values;
}

function readDictionary(cursor: Cursor): PlistDict {
  const entries = new Map<string, PlistValue>();
  while (takeTag(cursor, /<\/dict>/y) === undefined) {
    if (take(cursor, /<key>/y) === undefined) refuse(cursor, 'a <dict> contains something other than a <key>');
    const key = readLeaf(cursor, 'key');
    const value = readValue(cursor);
    if (entries.has(key)) refuse(cursor, `the key ${key} occurs twice`);
    entries.set(key, value);
  }
  return Object.fromEntries(entries);
}

const emptyValues: PlistDict = { true: true, false: false, string: '', array: [], dict: {} };

function readValue(cursor: Cursor): PlistValue {
  const [, tag = '', closing = ''] = takeTag(cursor, /<([a-z]+) ?(\/?)>/y) ?? [];
  if (closing === '/') {
    const value = Object.hasOwn(emptyValues, tag) ? emptyValues[tag] : undefined;
    return value ?? refuse(cursor, `<${tag}/> is not a value`);
  }
  switch (tag) {
    case 'string':
      return readLeaf(cursor, 'string');
    case 'integer':
    case 'real':
      return readNumber(cursor, tag);
    case 'array':
      return readArray(cursor);
    case 'dict':
      return readDictionary(cursor);
    default:
      return refuse(cursor, tag === '' ? 'something that is not a value' : `<${tag}> is not supported`);
  }
}

/**
 * Reads a property list in Apple's XML form, with or without its header lines. Stricter than Apple's reader: duplicate
 * keys are rejected. Dates, data and the binary form are rejected too, because nothing here writes them.
 *
 * @see plist(5) of macOS
 */
export function readPlist(text: string): PlistReading {
  const cursor: Cursor = { text, at: 0 };
  try {
    take(cursor, /\s*<\?xml [^>]*\?>/y);
    takeTag(cursor, /<!DOCTYPE plist[^>]*>/y);
    const isOpen = takeTag(cursor, /<plist(?: version="1\.0")?>/y) !== undefined;
    if (!isOpen) refuse(cursor, 'it does not begin with <plist>');
    const value = readValue(cursor);
    const isClosed = takeTag(cursor, /<\/plist>\s*$/y) !== undefined;
    return isClosed ? { kind: 'plist', value } : refuse(cursor, 'it does not end with </plist>');
  } catch (error) {
    if (error instanceof SyntaxError) return { kind: 'refused', reason: error.message };
    throw error;
  }
}
