import {
  type Alias,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type ParsedNode,
  type Scalar,
  type YAMLMap,
  type YAMLParseError,
  type YAMLSeq,
} from 'yaml';
import { pointerTo } from '../desired/draft.ts';
import { escapeText } from '../diagnostics/escape.ts';
import { given } from '../model/given.ts';
import type { Problem } from './problem.ts';
import { type Entry, type SourceMap, type SourceText, type Span, sourceText } from './source-map.ts';
import { compose, syntaxProblems } from './syntax-problems.ts';

/** Maximum number of values after expanding aliases. The largest sensible rack has about 5,000. */
const maxValues = 50_000;

/** Converts a document's composed nodes to plain data. Maps have no prototype, so that no key is special. */
function readValues(root: Node, text: string): Omit<ReadDocument, 'source'> {
  const walk: Walk = { text, places: new Map(), problems: [], anchors: new Map(), open: new Set(), values: 0 };
  const value = readNode(walk, root, '', undefined);
  if (walk.values <= maxValues) return { value, map: walk.places, problems: walk.problems };
  const span = walk.overflow ?? { start: 0, end: 0 };
  const detail = `With all aliases expanded, it has more than ${maxValues} values.`;
  return { value: undefined, map: new Map(), problems: [{ code: 'yaml/too-many-values', span, detail }] };
}

function readNode(walk: Walk, node: Node, pointer: string, key: Span | undefined): unknown {
  walk.values += 1;
  if (walk.values > maxValues) {
    walk.overflow ??= key ?? spanOfNode(node) ?? { start: 0, end: 0 };
    return undefined;
  }
  if (isAlias(node)) return readAlias(walk, node as Alias.Parsed, pointer, key);
  place(walk, node, pointer, key);
  if (node === null) return null;
  if (node.anchor !== undefined) walk.anchors.set(node.anchor, node);
  const foreign = foreignTag(walk, node);
  if (isScalar(node)) {
    if (foreign === undefined) return readScalar(walk, node, pointer);
    walk.places.set(pointer, { value: foreign, isLiteral: false, ...given({ key }) });
    return node.source ?? '';
  }
  walk.open.add(node);
  const value = isSeq(node) ? readList(walk, node, pointer) : readMap(walk, node as YAMLMap.Parsed, pointer);
  walk.open.delete(node);
  return value;
}

function place(walk: Walk, node: Node, pointer: string, key: Span | undefined): void {
  const value = spanOfNode(node) ?? key ?? { start: 0, end: 0 };
  const raw = isScalar(node) ? walk.text.slice(value.start, value.end) : undefined;
  const literal = isScalar(node) && typeof node.value === 'string' ? node.value : undefined;
  walk.places.set(pointer, {
    value,
    isLiteral: literal !== undefined && (raw === literal || raw?.slice(1, -1) === literal),
    ...given({ key, raw }),
  });
}

function readAlias(walk: Walk, alias: Alias.Parsed, pointer: string, key: Span | undefined): unknown {
  const target = walk.anchors.get(alias.source);
  const span = spanOfNode(alias) ?? { start: 0, end: 0 };
  if (target === undefined || walk.open.has(target)) {
    const why =
      target === undefined ? 'No anchor with this name comes before this alias' : 'The anchor contains this alias';
    walk.problems.push({ code: 'yaml/bad-alias', span, detail: `${why}.` });
    walk.places.set(pointer, { value: span, isLiteral: false, ...given({ key }) });
    return null;
  }
  const hadRoom = walk.overflow === undefined;
  const value = readNode(walk, target, pointer, key ?? span);
  if (hadRoom && walk.overflow !== undefined) walk.overflow = span;
  return value;
}

function readList(walk: Walk, list: YAMLSeq.Parsed, pointer: string): readonly unknown[] {
  return list.items.map((item, index) => readNode(walk, item as Node, pointerTo(pointer, index), undefined));
}

function readMap(walk: Walk, map: YAMLMap.Parsed, pointer: string): object {
  const value: Record<string, unknown> = Object.create(null);
  const merged: { readonly key: Span; readonly from: Node }[] = [];
  for (const pair of map.items) {
    const name = keyText(walk, pair.key);
    if (name === undefined) continue;
    const key = spanOfNode(pair.key) ?? { start: 0, end: 0 };
    const child = pointerTo(pointer, name);
    const isMerge = name === '<<' && isPlain(pair.key);
    const first = isMerge ? merged[0]?.key : walk.places.get(child)?.key;
    if (isMerge && first === undefined) merged.push({ key, from: pair.value });
    else if (first !== undefined) refuseDuplicate(walk, { name, pointer: child, key, first });
    else value[name] = readNode(walk, pair.value, child, key);
  }
  for (const { from } of merged) mergeInto(walk, value, from, pointer);
  return value;
}

function refuseDuplicate(
  walk: Walk,
  key: { readonly name: string; readonly pointer: string; readonly key: Span; readonly first: Span },
): void {
  const isNode = /^\/nodes\/[^/]*$/.test(key.pointer);
  walk.problems.push({
    code: isNode ? 'topology/duplicate-node' : 'yaml/duplicate-key',
    span: key.key,
    pointer: key.pointer,
    detail: `\`${key.name}\` is already defined above in the same map.`,
    others: [{ span: key.first, detail: 'The first definition.' }],
  });
}

/** Handles a merge key: adds the entries of other maps that this map lacks. Earlier maps win. */
function mergeInto(walk: Walk, value: Record<string, unknown>, source: Node, pointer: string): void {
  const sources = isSeq(source) ? (source.items as readonly Node[]) : [source];
  for (const one of sources) {
    const target = isAlias(one) ? walk.anchors.get(one.source) : one;
    if (!isMap(target) || walk.open.has(target)) {
      const span = spanOfNode(one) ?? { start: 0, end: 0 };
      walk.problems.push({
        code: 'yaml/bad-alias',
        span,
        detail: 'Only a map that is defined earlier in the file can be merged here.',
      });
      continue;
    }
    const hidden: Walk = { ...walk, places: new Map(), problems: isAlias(one) ? [] : walk.problems };
    const from = readNode(hidden, target as ParsedNode, pointer, undefined) as Record<string, unknown>;
    walk.values = hidden.values;
    if (hidden.overflow !== undefined) walk.overflow ??= hidden.overflow;
    const adopted = new Set<string>();
    for (const [name, inner] of Object.entries(from ?? {})) {
      if (name in value) continue;
      value[name] = inner;
      adopted.add(pointerTo(pointer, name));
    }
    adoptPlaces(walk, hidden.places, pointer, adopted);
  }
}

function adoptPlaces(walk: Walk, places: SourceMap, pointer: string, adopted: ReadonlySet<string>): void {
  for (const [inner, entry] of places) {
    const end = inner.indexOf('/', pointer.length + 1);
    if (adopted.has(end === -1 ? inner : inner.slice(0, end))) walk.places.set(inner, entry);
  }
}
/** Returns how YAML 1.1 reads a plain text that is text in YAML 1.2; undefined if it is also text there. */
function otherReading(source: string): 'a boolean' | 'a number' | 'a date' | 'nothing' | undefined {
  if (/^(?:y|n|yes|no|true|false|on|off)$/i.test(source)) return 'a boolean';
  if (/^(?:~|null|)$/i.test(source)) return 'nothing';
  if (/^\d{4}-\d\d?-\d\d?(?:$|[Tt \t])/.test(source)) return 'a date';
  return isOldNumber(source) ? 'a number' : undefined;
}

/** Recognizes binary, octal, hexadecimal, decimal with underscores, floating point, and base 60 (12:30). */
function isOldNumber(source: string): boolean {
  const unsigned = source.replace(/^[-+]/, '');
  return (
    /^0b[01_]+$/.test(unsigned) ||
    /^0[xo][0-9a-f_]+$/i.test(unsigned) ||
    /^\d[\d_]*(?:\.[\d_]*)?(?:e[-+]?\d+)?$/i.test(unsigned) ||
    /^\.\d[\d_]*(?:e[-+]?\d+)?$/i.test(unsigned) ||
    /^\d[\d_]*(?::[0-5]?\d)+(?:\.\d*)?$/.test(unsigned) ||
    /^\.(?:inf|nan)$/i.test(unsigned)
  );
}

/**
 * Returns how others read a plain text that is a number in YAML 1.2; undefined if they read the same number. In 1.1, a
 * leading zero means octal, but the octals of 1.2 and exponents without a point and a sign are text. JSON's schema of
 * 1.2 has no hexadecimal numbers.
 */
function otherNumber(source: string): string | undefined {
  if (/^[-+]?0[0-9_]+$/.test(source)) return 'YAML 1.1 reads it as a different number';
  if (/^0x[0-9a-f]+$/i.test(source)) return 'readers without hexadecimal numbers read it as text';
  const isText = /^0o[0-7]+$/.test(source) || /^[-+]?\d+(?:e[-+]?\d+|\.\d*e\d+)$/i.test(source);
  return isText ? 'YAML 1.1 reads it as text' : undefined;
}

interface Walk {
  readonly text: string;
  readonly places: Map<string, Entry>;
  readonly problems: Problem[];
  readonly anchors: Map<string, ParsedNode>;
  /** Nodes that are currently being read, to detect an anchor that contains itself. */
  readonly open: Set<unknown>;
  values: number;
  /** The position at which the number of values exceeded the limit. */
  overflow?: Span;
}

/** A composed node; null if the file has no value at its position. */
type Node = ParsedNode | null;

const spanOfNode = (node: Node): Span | undefined =>
  node?.range === undefined || node.range === null ? undefined : { start: node.range[0], end: node.range[1] };

const plainTags = new Set(
  ['str', 'int', 'float', 'bool', 'null', 'map', 'seq'].map((name) => `tag:yaml.org,2002:${name}`),
);

/** Reports a nonstandard tag. Returns the tag's span, which for a scalar includes the value. */
function foreignTag(walk: Walk, node: ParsedNode): Span | undefined {
  if (node.tag === undefined || plainTags.has(node.tag)) return undefined;
  const valueStart = node.range[0];
  const before = walk.text.slice(Math.max(0, valueStart - 300), valueStart);
  // A tag precedes its value; there can be an anchor between them.
  const tag = /(!\S{0,300})\s{0,99}(?:&\S{1,300}\s{0,99})?$/.exec(before);
  const start = tag === null ? valueStart : valueStart - before.length + tag.index;
  const span = { start, end: isScalar(node) ? node.range[1] : start + (tag?.[1]?.length ?? 1) };
  const detail = 'meshwright reads only plain text, numbers, true and false, lists and maps.';
  walk.problems.push({ code: 'yaml/foreign-tag', span, detail });
  return span;
}

/** Returns a scalar's value; reports values that other YAML readers would read differently. */
function readScalar(walk: Walk, node: Scalar.Parsed, pointer: string): unknown {
  const entry = walk.places.get(pointer);
  if (node.type !== 'PLAIN' || entry === undefined || entry.raw === undefined) return node.value;
  const { raw } = entry;
  const other = typeof node.value === 'number' ? otherNumber(raw) : undefined;
  if (other !== undefined) {
    const own = String(node.value);
    const detail = `meshwright reads ${raw} as ${own}; ${other}.`;
    const hint = `Write it as ${own}, or, if you mean text, in quotes: "${raw}"`;
    walk.problems.push({ code: 'yaml/ambiguous-number', span: entry.value, pointer, detail, hint });
  }
  if (typeof node.value === 'string') warnOfOtherReading(walk, raw, entry.value);
  return node.value;
}

function warnOfOtherReading(walk: Walk, raw: string, span: Span): void {
  const other = otherReading(raw);
  if (other === undefined) return;
  const detail = `meshwright reads ${raw} as text; YAML 1.1 reads it as ${other}.`;
  const hint = `Put it in quotes: "${raw}"`;
  walk.problems.push({ code: 'yaml/ambiguous-text', severity: 'warning', span, detail, hint });
}

const isPlain = (key: unknown): boolean => isScalar(key) && key.type === 'PLAIN';

/** Returns a key as written in the file, such as `1e3`; reports a key that is not text and returns undefined. */
function keyText(walk: Walk, node: Node): string | undefined {
  const span = spanOfNode(node) ?? { start: 0, end: 0 };
  if (!isScalar(node)) {
    walk.problems.push({ code: 'yaml/bad-key', span, detail: 'Expected a name, found a list, a map or an alias.' });
    return undefined;
  }
  foreignTag(walk, node as ParsedNode);
  if (node.type !== 'PLAIN') return String(node.value);
  const raw = walk.text.slice(span.start, span.end);
  if (raw === '') {
    const colon = Math.max(span.start, walk.text.indexOf(':', span.start));
    const at = { start: colon, end: colon + 1 };
    walk.problems.push({ code: 'yaml/bad-key', span: at, detail: 'There is no key before the colon.' });
    return undefined;
  }
  const isSameNumber = typeof node.value === 'number' && String(node.value) === raw;
  if (!isSameNumber) warnOfOtherReading(walk, raw, span);
  return raw;
}

/** Maximum file size in bytes (in UTF-16 code units for text input), checked before parsing. */
const maxFileBytes = 524_288;

/** Decodes a file, and checks its size, encoding and invisible characters. */
function readText(input: string | Uint8Array, file: string): Pick<ReadDocument, 'source' | 'problems'> {
  const refused = (code: Problem['code'], detail: string) => ({
    source: sourceText(file, ''),
    problems: [{ code, span: { start: 0, end: 0 }, detail }],
  });
  if (input.length > maxFileBytes) return refused('yaml/too-large', tooLarge);
  if (typeof input !== 'string' && isUtf16(input))
    return refused('yaml/not-utf8', 'It begins with a UTF-16 byte order mark.');
  const text = typeof input === 'string' ? input : new TextDecoder('utf-8', { ignoreBOM: true }).decode(input);
  const source = sourceText(file, text);
  const at = source.text.indexOf('\ufffd');
  const problems = at === -1 ? invisibleCharacters(source.text) : [notUtf8(at)];
  return { source, problems };
}

const tooLarge = `It has more than ${maxFileBytes / 1024} KiB, which is the limit.`;

const isUtf16 = ([first, second]: Uint8Array): boolean =>
  (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);

/** Decoders replace invalid bytes with U+FFFD, which no cluster file contains on purpose. */
const notUtf8 = (at: number): Problem => ({
  code: 'yaml/not-utf8',
  span: { start: at, end: at + 1 },
  detail: 'The bytes here are not valid UTF-8.',
});

const invisible =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufffe\uffff]|\r(?!\n)|\p{Cs}/gu;
const reportedAtMost = 20;

function invisibleCharacters(text: string): readonly Problem[] {
  const problems: Problem[] = [];
  for (const found of text.matchAll(invisible)) {
    const span = { start: found.index, end: found.index + found[0].length };
    const detail = `The character here is ${escapeText(found[0])}${meaningOf(found[0])}.`;
    problems.push({ code: 'yaml/control-character', span, detail });
    if (problems.length === reportedAtMost) break;
  }
  return problems;
}

function meaningOf(character: string): string {
  if (character === '\u0000') return ', the NUL character';
  if (character === '\r') return ', a carriage return without a line feed';
  if (character === '\u001b') return ', the start of a terminal escape sequence';
  if (/\p{Cs}/u.test(character)) return ', half of a surrogate pair';
  return /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/.test(character) ? ', which changes the text direction' : '';
}

/** One YAML file as plain data. `value` is absent if the text cannot be parsed. */
export interface ReadDocument {
  readonly source: SourceText;
  readonly value?: unknown;
  readonly map: SourceMap;
  readonly problems: readonly Problem[];
}

const noPlaces: SourceMap = new Map();

/**
 * Reads one YAML 1.2 document into plain data without prototypes, and records every value's position. Never throws.
 * Limits on size, depth and expanded aliases bound time and memory.
 *
 * @param mistakes counts the mistakes in a text, to choose between repairs of a file that cannot be read; without it,
 *   the likeliest repair is chosen
 */
export function readDocument(
  input: string | Uint8Array,
  file: string,
  mistakes: (text: string) => number = () => Number.POSITIVE_INFINITY,
): ReadDocument {
  const { source, problems } = readText(input, file);
  if (problems.length > 0) return { source, map: noPlaces, problems };
  return readTree(source, (errors) => syntaxProblems(errors, source, mistakes));
}

/** Reads a text; `explain` makes problems of the parser's errors. */
export function readTree(
  source: SourceText,
  explain: (errors: readonly YAMLParseError[]) => readonly Problem[],
): ReadDocument {
  const { problems, document, errors } = compose(source.text);
  if (problems.length > 0) return { source, map: noPlaces, problems };
  if (document === undefined || document.contents === null) return empty(source);
  if (errors.length > 0) return { source, map: noPlaces, problems: explain(errors) };
  const read = readValues(document.contents, source.text);
  if (read.value === null && read.problems.length === 0) return empty(source);
  return { source, ...read };
}

function empty(source: SourceText): ReadDocument {
  const detail = 'It has no value: either nothing at all or only comments.';
  return { source, map: noPlaces, problems: [{ code: 'yaml/empty', span: { start: 0, end: 0 }, detail }] };
}
