import { type Alias, isAlias, isMap, isScalar, isSeq, type ParsedNode, type YAMLMap, type YAMLSeq } from 'yaml';
import type { Problem } from '../problem.ts';
import type { Span } from './line-index.ts';
import { pointerTo } from './pointer.ts';
import type { SourceMap } from './source-map.ts';
import { foreignTag, isPlain, keyText, type Node, readScalar, spanOfNode, type Walk } from './yaml-scalars.ts';

/** Plain data with the place of every value. */
export interface ReadValues {
  readonly value: unknown;
  readonly map: SourceMap;
  readonly problems: readonly Problem[];
}

/** More values than this, aliases unfolded, are refused; the largest sensible rack has about five thousand. */
const maxValues = 50_000;

/** Reads the composed nodes of a document into plain data; maps have no prototype, so every key is only a key. */
export function readValues(root: Node, text: string): ReadValues {
  const walk: Walk = { text, places: new Map(), problems: [], anchors: new Map(), open: new Set(), values: 0 };
  const value = readNode(walk, root, '', undefined);
  if (walk.values <= maxValues) return { value, map: walk.places, problems: walk.problems };
  const span = walk.overflow ?? { start: 0, end: 0 };
  const detail = `With every alias unfolded it has more than ${maxValues} values.`;
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
    walk.places.set(pointer, { value: foreign, isLiteral: false, ...(key === undefined ? {} : { key }) });
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
    ...(key === undefined ? {} : { key }),
    ...(raw === undefined ? {} : { raw }),
  });
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
