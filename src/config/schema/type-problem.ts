import { escapeText } from '../../diagnostics/escape.ts';
import { gluedKey, spaceHint } from '../document/glued-key.ts';
import type { Problem } from '../problem.ts';
import { capital, type PlacedValue } from './schema-context.ts';
import type { SchemaError } from './schema-error.ts';

const kindWords: Readonly<Record<string, string>> = {
  string: 'a text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a map of keys',
};

/** The problem of a value of the wrong kind, with the smallest correction that can be told from what stands there. */
export function typeProblem(place: PlacedValue, error: SchemaError, shown: string): Problem {
  const wanted = String(error.params['type']);
  const is = kindOf(place.value);
  const belongs = `${kindWords[wanted] ?? wanted} belongs here`;
  const what = typeof place.value === 'object' ? `${capital(is)} stands here` : `${capital(shown)} is ${is}`;
  const detail = `${what}; ${belongs}.`;
  const hint = hintFor(wanted, place);
  return {
    code: 'schema/wrong-type',
    span: place.span,
    pointer: place.pointer,
    detail,
    ...(hint === '' ? {} : { hint }),
  };
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object' && value !== null) return 'a map';
  if (typeof value === 'string') return 'a text';
  if (typeof value === 'number') return `the number ${value}`;
  return typeof value === 'boolean' ? `the boolean ${value}` : 'nothing';
}

function hintFor(wanted: string, place: PlacedValue): string {
  const { value } = place;
  const raw = escapeText(place.raw);
  if (value === null) return 'Fill it in, or remove the key.';
  if (wanted === 'object') return hintForMap(place);
  if (wanted === 'string' && typeof value !== 'object') {
    return place.isFitAsText ? `Put it in quotes: "${raw}"` : place.description;
  }
  if (wanted === 'boolean' && typeof value === 'string') {
    if (/^(?:y|yes|on)$/i.test(value)) return `Write true: to YAML 1.2, ${raw} is a text.`;
    if (/^(?:n|no|off)$/i.test(value)) return `Write false: to YAML 1.2, ${raw} is a text.`;
  }
  if (wanted === 'integer' && typeof value === 'string' && /^[1-9][0-9]*$/.test(value))
    return `Write ${value} without quotes.`;
  return place.description;
}

function hintForMap({ pointer, raw, value, keys, description }: PlacedValue): string {
  const glued = gluedKey(raw);
  if (glued !== undefined && keys.includes(glued.key)) return spaceHint(glued);
  if (pointer === '/nodes' && Array.isArray(value)) {
    return `Write them as a map, by name and without dashes: \`${nodeLine(value[0])}\`.`;
  }
  return description;
}

/** The first node of a list as a line of a map; an example where the list does not say its name. */
function nodeLine(item: unknown): string {
  const name: unknown = typeof item === 'object' && item !== null ? Reflect.get(item, 'name') : item;
  if (typeof name !== 'string' || !/^[a-z0-9][a-z0-9-]{0,62}$/.test(name)) return 'studio-1: { host: studio-1.lan }';
  const host: unknown = typeof item === 'object' && item !== null ? Reflect.get(item, 'host') : undefined;
  const isFit = typeof host === 'string' && /^[A-Za-z0-9][A-Za-z0-9.-]{0,252}$/.test(host);
  return `${name}: { host: ${isFit ? host : `${name}.lan`} }`;
}
