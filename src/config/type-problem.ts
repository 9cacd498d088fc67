import { escapeText } from '../diagnostics/escape.ts';
import type { Span } from './line-index.ts';
import type { Problem } from './problem.ts';
import type { SchemaError } from './schema-error.ts';

/** A value of the wrong kind, with its place and what the schema says about it. */
export interface MistypedValue {
  readonly pointer: string;
  readonly span: Span;
  /** The text of a scalar as the file has it; empty for a list or a map. */
  readonly raw: string;
  readonly description: string;
  readonly value: unknown;
}

const kindWords: Readonly<Record<string, string>> = {
  string: 'a text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a map of keys',
};

/** The problem of a value of the wrong kind, with the smallest correction that can be told from what stands there. */
export function typeProblem(place: MistypedValue, error: SchemaError, shown: string): Problem {
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

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object' && value !== null) return 'a map';
  if (typeof value === 'string') return 'a text';
  if (typeof value === 'number') return `the number ${value}`;
  return typeof value === 'boolean' ? `the boolean ${value}` : 'nothing';
}

function hintFor(wanted: string, place: MistypedValue): string {
  const { value } = place;
  const raw = escapeText(place.raw);
  if (value === null) return 'Fill it in, or remove the key.';
  if (wanted === 'string' && typeof value !== 'object') return `Put it in quotes: "${raw}"`;
  if (wanted === 'boolean' && typeof value === 'string') {
    if (/^(?:y|yes|on)$/i.test(value)) return `Write true: to YAML 1.2, ${raw} is a text.`;
    if (/^(?:n|no|off)$/i.test(value)) return `Write false: to YAML 1.2, ${raw} is a text.`;
  }
  if (wanted === 'integer' && typeof value === 'string' && /^[1-9][0-9]*$/.test(value))
    return `Write ${value} without quotes.`;
  return place.description;
}
