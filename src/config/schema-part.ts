import { lastKey } from './source-map.ts';

type SchemaNode = Readonly<Record<string, unknown>>;

/** The part of a schema that applies to one value. */
export interface SchemaPart {
  readonly node: SchemaNode;
  /** The definition's name, if the part has one: `host` for `#/$defs/host`. */
  readonly definition?: string;
}

const isNode = (value: unknown): value is SchemaNode => typeof value === 'object' && value !== null;
const definitionPath = '#/$defs/';

/** Follows a schema node's reference. Our schemas refer only to `$defs`, and never through two references. */
export function resolved(schema: unknown, node: unknown): SchemaPart {
  if (!isNode(node)) return { node: {} };
  const reference = node['$ref'];
  if (typeof reference !== 'string' || !reference.startsWith(definitionPath)) return { node };
  const definition = reference.slice(definitionPath.length);
  const definitions = isNode(schema) ? schema['$defs'] : undefined;
  const target = isNode(definitions) ? definitions[definition] : undefined;
  return { node: isNode(target) ? target : {}, definition };
}

/** Finds the part of a schema that applies to the value at a JSON pointer in a document. */
export function schemaFor(schema: unknown, pointer: string): SchemaPart {
  let part = resolved(schema, schema);
  for (const step of pointer.split('/').slice(1)) part = partBelow(schema, part, lastKey(`/${step}`));
  return part;
}

/** Finds the part of a schema that applies to one entry in a map or a list. */
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

/** The part's description in the schema, or an empty text. */
export function descriptionOf(node: SchemaNode): string {
  const text = node['description'];
  return typeof text === 'string' ? text : '';
}

export function keysOf(node: SchemaNode): readonly string[] {
  const properties = node['properties'];
  return isNode(properties) ? Object.keys(properties) : [];
}

/** An example value for a key of a map; undefined if the schema has none. */
export function exampleOf(schema: unknown, node: SchemaNode, key: string): string | undefined {
  const properties = node['properties'];
  const property = isNode(properties) ? properties[key] : undefined;
  if (!isNode(property)) return undefined;
  const target = resolved(schema, property).node;
  const example = property['const'] ?? firstOf(property['examples']) ?? firstOf(target['examples']);
  return typeof example === 'string' || typeof example === 'number' ? String(example) : undefined;
}

const firstOf = (value: unknown): unknown => (Array.isArray(value) ? value[0] : undefined);

/** The sections that have a key, in readable form: `nodes.<name>.hardware` for `memory`. */
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

export interface CompiledSchema {
  readonly schema: unknown;
  readonly validate: { (data: unknown): boolean; readonly errors?: readonly SchemaError[] | null };
}

/** One error from a generated validator, in ajv's form. */
export interface SchemaError {
  /** JSON pointer to the value, or to the map if a key is wrong. */
  readonly instancePath: string;
  /** The violated keyword in the schema, for example `#/$defs/host/pattern`. */
  readonly schemaPath: string;
  readonly keyword: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** Set if the error is about a key's name. */
  readonly propertyName?: string;
}
