import {
  type Alias,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type ParsedNode,
  type Scalar,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';
import type { Span } from './line-index.ts';
import { hasLeadingZero, otherReading } from './plain-scalars.ts';
import { pointerTo } from './pointer.ts';
import type { Problem } from './problem.ts';
import type { Entry, SourceMap } from './source-map.ts';

/** Plain data with the place of every value. */
export interface ReadValues {
  readonly value: unknown;
  readonly map: SourceMap;
  readonly problems: readonly Problem[];
}

/** More values than this, aliases unfolded, are refused; the largest sensible rack has about five thousand. */
export const maxValues = 50_000;

interface Walk {
  readonly text: string;
  readonly places: Map<string, Entry>;
  readonly problems: Problem[];
  readonly anchors: Map<string, ParsedNode>;
  /** Anchored nodes that are being read, to notice one that contains itself. */
  readonly open: Set<unknown>;
  values: number;
}

type Node = ParsedNode | null;

/** Reads the composed nodes of a document into plain data; maps have no prototype, so every key is only a key. */
export function readValues(root: Node, text: string): ReadValues {
  const walk: Walk = { text, places: new Map(), problems: [], anchors: new Map(), open: new Set(), values: 0 };
  const value = readNode(walk, root, '', undefined);
  if (walk.values <= maxValues) return { value, map: walk.places, problems: walk.problems };
  const span = { start: 0, end: 0 };
  const detail = `With every alias unfolded it has more than ${maxValues} values.`;
  return { value: undefined, map: new Map(), problems: [{ code: 'yaml/too-many-values', span, detail }] };
}

const spanOfNode = (node: Node): Span | undefined =>
  node?.range === undefined || node.range === null ? undefined : { start: node.range[0], end: node.range[1] };

function readNode(walk: Walk, node: Node, pointer: string, key: Span | undefined): unknown {
  walk.values += 1;
  if (walk.values > maxValues) return undefined;
  if (isAlias(node)) return readAlias(walk, node as Alias.Parsed, pointer, key);
  place(walk, node, pointer, key);
  if (node === null) return null;
  refuseForeignTag(walk, node);
  if (node.anchor !== undefined) walk.anchors.set(node.anchor, node);
  if (isScalar(node)) return readScalar(walk, node, pointer);
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
    ...(key === undefined ? {} : { key }),
    ...(raw === undefined ? {} : { raw }),
  });
}

const plainTags = new Set(
  ['str', 'int', 'float', 'bool', 'null', 'map', 'seq'].map((name) => `tag:yaml.org,2002:${name}`),
);

function refuseForeignTag(walk: Walk, node: ParsedNode): void {
  if (node.tag === undefined || plainTags.has(node.tag)) return;
  const end = node.range[0];
  const start = walk.text.lastIndexOf('!', end) === -1 ? end : tagStart(walk.text, end);
  const detail = 'Only plain text, numbers, true and false, lists and maps are read.';
  walk.problems.push({ code: 'yaml/foreign-tag', span: { start, end: Math.max(end, start + 1) }, detail });
}

/** A tag stands before its value, perhaps with an anchor between: the last word there that begins with `!`. */
function tagStart(text: string, valueStart: number): number {
  const before = text.slice(Math.max(0, valueStart - 200), valueStart);
  const at = before.search(/![^\s]*\s*(?:&\S+\s*)?$/);
  return at === -1 ? valueStart : valueStart - before.length + at;
}

function readScalar(walk: Walk, node: Scalar.Parsed, pointer: string): unknown {
  const entry = walk.places.get(pointer);
  if (node.type !== 'PLAIN' || entry === undefined || entry.raw === undefined) return node.value;
  const { raw } = entry;
  if (typeof node.value === 'number' && hasLeadingZero(raw)) {
    const detail = `${raw} is ${node.value} here, and another number to readers of YAML 1.1.`;
    walk.problems.push({ code: 'yaml/ambiguous-number', span: entry.value, pointer, detail });
  }
  if (typeof node.value === 'string') warnOfOtherReading(walk, raw, entry.value);
  return node.value;
}

function warnOfOtherReading(walk: Walk, raw: string, span: Span): void {
  const other = otherReading(raw);
  if (other === undefined) return;
  const detail = `meshwright reads the text ${raw}; a reader of YAML 1.1 reads ${other}.`;
  const hint = `Put it in quotes: "${raw}"`;
  walk.problems.push({ code: 'yaml/ambiguous-text', severity: 'warning', span, detail, hint });
}

function readAlias(walk: Walk, alias: Alias.Parsed, pointer: string, key: Span | undefined): unknown {
  const target = walk.anchors.get(alias.source);
  const span = spanOfNode(alias) ?? { start: 0, end: 0 };
  if (target === undefined || walk.open.has(target)) {
    const why = target === undefined ? 'There is no anchor of this name before it' : 'The anchor contains this alias';
    walk.problems.push({ code: 'yaml/bad-alias', span, detail: `${why}.` });
    walk.places.set(pointer, { value: span, isLiteral: false, ...(key === undefined ? {} : { key }) });
    return null;
  }
  return readNode(walk, target, pointer, key ?? span);
}

function readList(walk: Walk, list: YAMLSeq.Parsed, pointer: string): readonly unknown[] {
  return list.items.map((item, index) => readNode(walk, item as Node, pointerTo(pointer, index), undefined));
}

function readMap(walk: Walk, map: YAMLMap.Parsed, pointer: string): object {
  const value: Record<string, unknown> = Object.create(null);
  const merged: Node[] = [];
  for (const pair of map.items) {
    const name = keyText(walk, pair.key);
    if (name === undefined) continue;
    const key = spanOfNode(pair.key) ?? { start: 0, end: 0 };
    const child = pointerTo(pointer, name);
    const first = walk.places.get(child)?.key;
    if (name === '<<' && isPlain(pair.key)) merged.push(pair.value);
    else if (name in value && first !== undefined) refuseDuplicate(walk, { name, pointer: child, key, first });
    else value[name] = readNode(walk, pair.value, child, key);
  }
  for (const source of merged) mergeInto(walk, value, source, pointer);
  return value;
}

const isPlain = (key: unknown): boolean => isScalar(key) && key.type === 'PLAIN';

/** A key as the file writes it: `1e3` stays `1e3`. Undefined, with a problem, for a key that is no text. */
function keyText(walk: Walk, node: Node): string | undefined {
  const span = spanOfNode(node) ?? { start: 0, end: 0 };
  if (!isScalar(node)) {
    walk.problems.push({
      code: 'yaml/bad-key',
      span,
      detail: 'A list, a map or an alias stands where a name belongs.',
    });
    return undefined;
  }
  refuseForeignTag(walk, node as ParsedNode);
  if (node.type !== 'PLAIN') return String(node.value);
  const raw = walk.text.slice(span.start, span.end);
  if (raw === '') {
    walk.problems.push({ code: 'yaml/bad-key', span, detail: 'There is nothing before the colon.' });
    return undefined;
  }
  const isSameNumber = typeof node.value === 'number' && String(node.value) === raw;
  if (!isSameNumber) warnOfOtherReading(walk, raw, span);
  return raw;
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
    detail: `\`${key.name}\` already stands above in the same map.`,
    others: [{ span: key.first, detail: 'The first one.' }],
  });
}

/** A merge key: what the other maps have and this one does not. Earlier ones win. */
function mergeInto(walk: Walk, value: Record<string, unknown>, source: Node, pointer: string): void {
  const sources = isSeq(source) ? (source.items as readonly Node[]) : [source];
  for (const one of sources) {
    const target = isAlias(one) ? walk.anchors.get(one.source) : one;
    if (!isMap(target) || walk.open.has(target)) {
      const span = spanOfNode(one) ?? { start: 0, end: 0 };
      walk.problems.push({ code: 'yaml/bad-alias', span, detail: 'Only a map that stands before can be merged here.' });
      continue;
    }
    const hidden: Walk = { ...walk, places: new Map(), problems: isAlias(one) ? [] : walk.problems };
    const from = readNode(hidden, target as ParsedNode, pointer, undefined) as Record<string, unknown>;
    walk.values = hidden.values;
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
