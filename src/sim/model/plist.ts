/** What an XML property list can hold here; dates and data are not read. */
export type PropertyList =
  | string
  | number
  | boolean
  | readonly PropertyList[]
  | { readonly [key: string]: PropertyList };

/** A property list, or why the text is none. */
type PlistReading =
  | { readonly kind: 'plist'; readonly value: PropertyList }
  | { readonly kind: 'refused'; readonly reason: string };

interface Cursor {
  readonly text: string;
  at: number;
  reason: string | undefined;
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** Remembers the first thing that was wrong; `undefined` so that a reader can return it at once. */
function refuse(cursor: Cursor, reason: string): undefined {
  const line = cursor.text.slice(0, cursor.at).split('\n').length;
  cursor.reason ??= `${reason} (line ${line})`;
  return undefined;
}

/** The next piece that matches a sticky pattern, taken; `undefined` when it is not there. */
function take(cursor: Cursor, pattern: RegExp): RegExpExecArray | undefined {
  pattern.lastIndex = cursor.at;
  const match = pattern.exec(cursor.text) ?? undefined;
  if (match !== undefined) cursor.at = pattern.lastIndex;
  return match;
}

const skipSpace = (cursor: Cursor): void => {
  take(cursor, /(?:\s|<!--[\s\S]*?-->)*/y);
};

/** The text up to the next tag, its entities resolved. */
function readText(cursor: Cursor): string | undefined {
  const raw = take(cursor, /[^<]*/y)?.[0] ?? '';
  let isKnown = true;
  const text = raw.replaceAll(/&([^;&]{0,10});?/g, (whole, name: string) => {
    const [, digits] = /^#(\d{1,7})$/.exec(name) ?? [];
    if (digits !== undefined && Number(digits) <= 0x10ffff) return String.fromCodePoint(Number(digits));
    const known = whole.endsWith(';') && Object.hasOwn(entities, name) ? entities[name] : undefined;
    isKnown &&= known !== undefined;
    return known ?? '';
  });
  return isKnown ? text : refuse(cursor, 'an entity that XML does not know');
}

/** Reads `<tag>text</tag>` behind its opening tag. */
function readLeaf(cursor: Cursor, tag: string): string | undefined {
  const text = readText(cursor);
  if (text === undefined) return undefined;
  return take(cursor, new RegExp(`</${tag}>`, 'y')) === undefined ? refuse(cursor, `<${tag}> does not end`) : text;
}

function readArray(cursor: Cursor): readonly PropertyList[] | undefined {
  const values: PropertyList[] = [];
  for (;;) {
    skipSpace(cursor);
    if (take(cursor, /<\/array>/y) !== undefined) return values;
    const value = readValue(cursor);
    if (value === undefined) return undefined;
    values.push(value);
  }
}

function readDictionary(cursor: Cursor): { readonly [key: string]: PropertyList } | undefined {
  const entries = new Map<string, PropertyList>();
  for (;;) {
    skipSpace(cursor);
    if (take(cursor, /<\/dict>/y) !== undefined) return Object.fromEntries(entries);
    if (take(cursor, /<key>/y) === undefined) return refuse(cursor, 'a <dict> holds something that is no <key>');
    const key = readLeaf(cursor, 'key');
    if (key === undefined) return undefined;
    skipSpace(cursor);
    const value = readValue(cursor);
    if (value === undefined) return undefined;
    if (entries.has(key)) return refuse(cursor, `the key ${key} comes twice`);
    entries.set(key, value);
  }
}

function readNumber(cursor: Cursor, tag: 'integer' | 'real'): number | undefined {
  const text = readLeaf(cursor, tag);
  if (text === undefined) return undefined;
  const form = tag === 'integer' ? /^-?\d{1,15}$/ : /^-?\d{1,15}(\.\d{1,15})?$/;
  return form.test(text.trim()) ? Number(text) : refuse(cursor, `<${tag}> holds no number`);
}

function readValue(cursor: Cursor): PropertyList | undefined {
  const [, tag = '', closing = ''] = take(cursor, /<([a-z]+) ?(\/?)>/y) ?? [];
  const isEmpty = closing === '/';
  if (isEmpty) return emptyValue(cursor, tag);
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
      return refuse(cursor, tag === '' ? 'something that is no value' : `<${tag}> is not read here`);
  }
}

function emptyValue(cursor: Cursor, tag: string): PropertyList | undefined {
  const empty: Readonly<Record<string, PropertyList>> = { true: true, false: false, string: '', array: [], dict: {} };
  const value = Object.hasOwn(empty, tag) ? empty[tag] : undefined;
  return value ?? refuse(cursor, `<${tag}/> is no value`);
}

/**
 * Reads a property list in Apple's XML form, with or without its heading lines. Strict where Apple's reader is not:
 * a key that comes twice is refused. Dates, data and the binary form are refused as well, since nothing here writes
 * them.
 *
 * @see plist(5) of macOS
 */
export function readPlist(text: string): PlistReading {
  const cursor: Cursor = { text, at: 0, reason: undefined };
  take(cursor, /\s*<\?xml [^>]*\?>/y);
  skipSpace(cursor);
  take(cursor, /<!DOCTYPE plist[^>]*>/y);
  skipSpace(cursor);
  const isOpen = take(cursor, /<plist(?: version="1\.0")?>/y) !== undefined;
  if (!isOpen) refuse(cursor, 'it does not begin with <plist>');
  skipSpace(cursor);
  const value = isOpen ? readValue(cursor) : undefined;
  skipSpace(cursor);
  if (value !== undefined && take(cursor, /<\/plist>\s*$/y) === undefined)
    refuse(cursor, 'it does not end with </plist>');
  const { reason } = cursor;
  if (reason !== undefined || value === undefined) return { kind: 'refused', reason: reason ?? 'it is empty' };
  return { kind: 'plist', value };
}
/** What a property list holds here. */
export type PlistValue = string | number | boolean | readonly PlistValue[] | PlistDict;

/** A dictionary of a property list, in the order of the file. */
export interface PlistDict {
  readonly [key: string]: PlistValue;
}

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

const isArray = (value: PlistValue): value is readonly PlistValue[] => Array.isArray(value);

/** Whether a value is a dictionary. */
export const isDict = (value: PlistValue): value is PlistDict => typeof value === 'object' && !isArray(value);

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

/** A property list in Apple's XML form. */
export const plistText = (value: PlistValue): string =>
  '<?xml version="1.0" encoding="UTF-8"?>\n' +
  '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">\n' +
  `<plist version="1.0">\n${element(value, '')}</plist>\n`;
