import { canonicalAddress } from '../../desired/address.ts';
import type { Span } from '../document/line-index.ts';
import { lastKey } from '../document/pointer.ts';
import { quoted } from '../document/quoted.ts';
import type { ReadDocument } from '../document/read-document.ts';
import { spanOf } from '../document/source-map.ts';
import type { SchemaError } from './schema-error.ts';
import { descriptionOf, keysOf, type SchemaPart } from './schema-lookup.ts';

/** One finding of a validator with everything that explains it. */
export interface Context {
  readonly schema: unknown;
  readonly document: ReadDocument;
  readonly error: SchemaError;
  /** What the schema has for the value that is wrong, or for the map whose key is. */
  readonly part: SchemaPart;
}

/** A value with its place and what the schema says about it. */
export interface PlacedValue {
  readonly pointer: string;
  readonly span: Span;
  /** The text of a scalar as the file has it; empty for a list or a map. */
  readonly raw: string;
  readonly description: string;
  /** The keys that a map may have there. */
  readonly keys: readonly string[];
  readonly value: unknown;
  /** Whether the text of a scalar, in quotes, could stand there. */
  readonly isFitAsText: boolean;
}

/** Where the value stands, what it is, and what the schema says about it. */
export function placed({ document, error, part }: Context): PlacedValue {
  const pointer = error.instancePath;
  const raw = document.map.get(pointer)?.raw ?? '';
  return {
    pointer,
    span: spanOf(document.map, { pointer, at: 'value' }),
    raw,
    description: descriptionOf(part.node),
    keys: keysOf(part.node),
    value: valueAt(document.value, pointer),
    isFitAsText: fitsAsText(part, raw),
  };
}

/** The grammar of a host lets `10.1` pass, which is no name, and no address that all programs read alike. */
function fitsAsText({ node, definition }: SchemaPart, raw: string): boolean {
  const pattern = node['pattern'];
  if (definition === 'host' && canonicalAddress(raw) === undefined) return false;
  return typeof pattern !== 'string' || new RegExp(pattern, 'u').test(raw);
}

function valueAt(root: unknown, pointer: string): unknown {
  let value = root;
  for (const part of pointer.split('/').slice(1)) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = Reflect.get(value, lastKey(`/${part}`));
  }
  return value;
}

/** What stands there, in words. */
export function shownValue(context: Context): string {
  const { raw, value } = placed(context);
  if (raw !== '') return quoted(raw);
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' && value !== null ? 'a map' : 'nothing';
}

/** A sentence's beginning. */
export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
