import { keysOf, partBelow, rootPart, type SchemaPart } from './schema/schema-lookup.ts';

/** Keys that a section does not have are judged up to this many; a hundred problems are shown. */
const unknownKeysAtMost = 1_024;

/**
 * A copy of a value in which every list and map has at most one entry more than its schema allows, so that a value that
 * breaks a limit still does: validators gather errors in a time that grows with the square of their number. Keys that
 * the schema knows always stay.
 */
export const boundedValue = (schema: unknown, value: unknown): unknown => bounded(schema, rootPart(schema), value);

function bounded(schema: unknown, part: SchemaPart, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const inner = (one: unknown, key: string): unknown => bounded(schema, partBelow(schema, part, key), one);
  if (Array.isArray(value)) {
    return value.slice(0, limitOf(part, 'maxItems')).map((item, index) => inner(item, String(index)));
  }
  const known = new Set(keysOf(part.node));
  const entries = Object.entries(value);
  const others = entries.filter(([key]) => !known.has(key)).slice(0, limitOf(part, 'maxProperties'));
  const copy: Record<string, unknown> = Object.create(null);
  for (const [key, one] of entries.filter(([key]) => known.has(key))) copy[key] = inner(one, key);
  for (const [key, one] of others) copy[key] = inner(one, key);
  return copy;
}

function limitOf({ node }: SchemaPart, keyword: 'maxItems' | 'maxProperties'): number {
  const limit = node[keyword];
  if (typeof limit === 'number') return limit + 1;
  return node['additionalProperties'] === false ? unknownKeysAtMost : Number.POSITIVE_INFINITY;
}
