import { canonicalAddress } from '../desired/addresses.ts';
import { quoted } from './problem.ts';
import type { ReadDocument } from './read-document.ts';
import { lastKey, type Span, spanOf } from './source-map.ts';

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
    span: spanOf(document.map, { pointer }),
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

/** A JSON Schema as plain data. */
type SchemaNode = Readonly<Record<string, unknown>>;

/** The part of a schema that judges one value. */
export interface SchemaPart {
  readonly node: SchemaNode;
  /** Name of the definition it comes from (`host` for `#/$defs/host`), where there is one. */
  readonly definition?: string;
}

const isNode = (value: unknown): value is SchemaNode => typeof value === 'object' && value !== null;
const definitionPath = '#/$defs/';

/** A schema with its reference followed; our schemas refer to `$defs` only, and never twice in a row. */
function resolved(schema: unknown, node: unknown): SchemaPart {
  if (!isNode(node)) return { node: {} };
  const reference = node['$ref'];
  if (typeof reference !== 'string' || !reference.startsWith(definitionPath)) return { node };
  const definition = reference.slice(definitionPath.length);
  const definitions = isNode(schema) ? schema['$defs'] : undefined;
  const target = isNode(definitions) ? definitions[definition] : undefined;
  return { node: isNode(target) ? target : {}, definition };
}

/** The part of a schema that judges the value at a JSON pointer of a document. */
export function schemaFor(schema: unknown, pointer: string): SchemaPart {
  let part = rootPart(schema);
  for (const step of pointer.split('/').slice(1)) part = partBelow(schema, part, lastKey(`/${step}`));
  return part;
}

/** The part of a schema that judges the whole document. */
export const rootPart = (schema: unknown): SchemaPart => resolved(schema, schema);

/** The part of a schema that judges one entry of a map or a list. */
export function partBelow(schema: unknown, { node }: SchemaPart, key: string): SchemaPart {
  const branches = Array.isArray(node['oneOf']) ? node['oneOf'].filter(isNode) : [];
  const below = [node, ...branches].map((one) => entryOf(one, key));
  return resolved(
    schema,
    below.find((one) => one !== undefined),
  );
}

function entryOf(node: SchemaNode, key: string): unknown {
  const properties = node['properties'];
  const own = isNode(properties) && Object.hasOwn(properties, key) ? properties[key] : undefined;
  return own ?? node['items'] ?? node['additionalProperties'];
}

/** The schema of the names of the keys of a map. */
export const namesOf = (schema: unknown, node: SchemaNode): SchemaPart => resolved(schema, node['propertyNames']);

/** What the schema says about this part, or an empty text. */
export function descriptionOf(node: SchemaNode): string {
  const text = node['description'];
  return typeof text === 'string' ? text : '';
}

/** The keys that a map of this schema may have. */
export function keysOf(node: SchemaNode): readonly string[] {
  const properties = node['properties'];
  return isNode(properties) ? Object.keys(properties) : [];
}

/** An example value of one key of a map; undefined when the schema has none. */
export function exampleOf(schema: unknown, node: SchemaNode, key: string): string | undefined {
  const properties = node['properties'];
  const property = isNode(properties) ? properties[key] : undefined;
  if (!isNode(property)) return undefined;
  const target = resolved(schema, property).node;
  const example = property['const'] ?? firstOf(property['examples']) ?? firstOf(target['examples']);
  return typeof example === 'string' || typeof example === 'number' ? String(example) : undefined;
}

const firstOf = (value: unknown): unknown => (Array.isArray(value) ? value[0] : undefined);

/** The sections in which a key is known, as people write them: `nodes.<name>.hardware` for `memory`. */
export function sectionsWithKey(schema: unknown, key: string): readonly string[] {
  const found: string[] = [];
  const visit = (unresolved: unknown, path: string): void => {
    const { node } = resolved(schema, unresolved);
    if (path !== '' && keysOf(node).includes(key)) found.push(path);
    const properties = node['properties'];
    for (const [name, child] of Object.entries(isNode(properties) ? properties : {})) {
      visit(child, path === '' ? name : `${path}.${name}`);
    }
    if (isNode(node['additionalProperties'])) visit(node['additionalProperties'], `${path}.<name>`);
  };
  visit(schema, '');
  return found;
}
/** One finding of a generated validator, in the form that ajv gives it. */
export interface SchemaError {
  /** JSON pointer of the value; of the map, when a key is wrong. */
  readonly instancePath: string;
  /** Place of the violated keyword in the schema, such as `#/$defs/host/pattern`. */
  readonly schemaPath: string;
  readonly keyword: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** Set when the error is about the name of a key. */
  readonly propertyName?: string;
}

/** A schema with the validator that was generated from it. */
export interface CompiledSchema {
  readonly schema: unknown;
  readonly validate: {
    (data: unknown): boolean;
    readonly errors?: readonly SchemaError[] | null;
  };
}
