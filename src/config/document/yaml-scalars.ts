import { isScalar, type ParsedNode, type Scalar } from 'yaml';
import type { Problem } from '../problem.ts';
import type { Span } from './line-index.ts';
import { otherNumber, otherReading } from './plain-scalars.ts';
import type { Entry } from './source-map.ts';

/** What is known while the nodes of a document are read. */
export interface Walk {
  readonly text: string;
  readonly places: Map<string, Entry>;
  readonly problems: Problem[];
  readonly anchors: Map<string, ParsedNode>;
  /** Anchored nodes that are being read, to notice one that contains itself. */
  readonly open: Set<unknown>;
  values: number;
  /** The place at which there were too many. */
  overflow?: Span;
}

/** A composed node; null where the file has nothing at all. */
export type Node = ParsedNode | null;

/** The characters of a node. */
export const spanOfNode = (node: Node): Span | undefined =>
  node?.range === undefined || node.range === null ? undefined : { start: node.range[0], end: node.range[1] };

const plainTags = new Set(
  ['str', 'int', 'float', 'bool', 'null', 'map', 'seq'].map((name) => `tag:yaml.org,2002:${name}`),
);

/** Refuses a tag that is not one of the plain ones; gives its place, for a scalar together with the value. */
export function foreignTag(walk: Walk, node: ParsedNode): Span | undefined {
  if (node.tag === undefined || plainTags.has(node.tag)) return undefined;
  const valueStart = node.range[0];
  const before = walk.text.slice(Math.max(0, valueStart - 300), valueStart);
  // A tag stands before its value, perhaps with an anchor between.
  const tag = /(!\S{0,300})\s{0,99}(?:&\S{1,300}\s{0,99})?$/.exec(before);
  const start = tag === null ? valueStart : valueStart - before.length + tag.index;
  const span = { start, end: isScalar(node) ? node.range[1] : start + (tag?.[1]?.length ?? 1) };
  const detail = 'Only plain text, numbers, true and false, lists and maps are read.';
  walk.problems.push({ code: 'yaml/foreign-tag', span, detail });
  return span;
}

/** The value of a scalar, with what other readers would take it for. */
export function readScalar(walk: Walk, node: Scalar.Parsed, pointer: string): unknown {
  const entry = walk.places.get(pointer);
  if (node.type !== 'PLAIN' || entry === undefined || entry.raw === undefined) return node.value;
  const { raw } = entry;
  const other = typeof node.value === 'number' ? otherNumber(raw) : undefined;
  if (other !== undefined) {
    const own = String(node.value);
    const detail = `${raw} is ${own} here, and ${other} to readers of YAML 1.1.`;
    const hint = `Write it as ${own}, or in quotes where a text is meant: "${raw}"`;
    walk.problems.push({ code: 'yaml/ambiguous-number', span: entry.value, pointer, detail, hint });
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

/** Whether a key is written without quotes. */
export const isPlain = (key: unknown): boolean => isScalar(key) && key.type === 'PLAIN';

/** A key as the file writes it: `1e3` stays `1e3`. Undefined, with a problem, for a key that is no text. */
export function keyText(walk: Walk, node: Node): string | undefined {
  const span = spanOfNode(node) ?? { start: 0, end: 0 };
  if (!isScalar(node)) {
    walk.problems.push({
      code: 'yaml/bad-key',
      span,
      detail: 'A list, a map or an alias stands where a name belongs.',
    });
    return undefined;
  }
  foreignTag(walk, node as ParsedNode);
  if (node.type !== 'PLAIN') return String(node.value);
  const raw = walk.text.slice(span.start, span.end);
  if (raw === '') {
    const colon = Math.max(span.start, walk.text.indexOf(':', span.start));
    const at = { start: colon, end: colon + 1 };
    walk.problems.push({ code: 'yaml/bad-key', span: at, detail: 'There is nothing before the colon.' });
    return undefined;
  }
  const isSameNumber = typeof node.value === 'number' && String(node.value) === raw;
  if (!isSameNumber) warnOfOtherReading(walk, raw, span);
  return raw;
}
