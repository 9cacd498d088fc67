import { badName, gluedAmong, isSecondHalf, missingKeys, splitModel, splitModels, unknownKey } from './key-problems.ts';
import type { Problem } from './problem.ts';
import type { ReadDocument } from './read-document.ts';
import {
  type CompiledSchema,
  type Context,
  keysOf,
  partBelow,
  placed,
  rootPart,
  type SchemaError,
  type SchemaPart,
  schemaFor,
  shownValue,
} from './schema-context.ts';
import { pointerTo, spanOf } from './source-map.ts';
import { badForm, notAllowed, outOfRange, typeProblem } from './value-problems.ts';

/** Everything in which a document differs from its schema; keys that one section lacks are one problem. */
export function schemaProblems(compiled: CompiledSchema, document: ReadDocument): readonly Problem[] {
  if (compiled.validate(boundedValue(compiled.schema, document.value))) return [];
  const errors = compiled.validate.errors ?? [];
  const chosen = new Set(errors.filter((error) => error.keyword === 'oneOf').map((error) => error.instancePath));
  const missing = missingBySection(compiled.schema, errors);
  const splits = splitModels(document, errors);
  return errors
    .filter((error) => isTelling(error, chosen) && !isSecondHalf(document, splits, error))
    .flatMap((error): readonly Problem[] => {
      const split = error.keyword === 'pattern' ? splits.get(error.instancePath) : undefined;
      if (split !== undefined) return [splitModel(split)];
      const part = schemaFor(compiled.schema, error.instancePath);
      const context: Context = { schema: compiled.schema, document, error, part };
      if (error.keyword !== 'required') return [problemOf(context)];
      const keys = missing.get(error.instancePath) ?? [];
      return keys[0] === missingIn(error) ? [missingKeys(context, keys)] : [];
    });
}

const missingIn = (error: SchemaError): string => String(error.params['missingProperty']);

/** The keys that each section lacks, without those that are there and only run into their value. */
function missingBySection(schema: unknown, errors: readonly SchemaError[]): ReadonlyMap<string, readonly string[]> {
  const bySection = new Map<string, string[]>();
  const glued = new Set(errors.flatMap((error) => gluedKeyOf(schema, error)));
  for (const error of errors.filter(({ keyword }) => keyword === 'required')) {
    if (glued.has(pointerTo(error.instancePath, missingIn(error)))) continue;
    const keys = bySection.get(error.instancePath);
    if (keys === undefined) bySection.set(error.instancePath, [missingIn(error)]);
    else keys.push(missingIn(error));
  }
  return bySection;
}

function gluedKeyOf(schema: unknown, { keyword, params, instancePath }: SchemaError): readonly string[] {
  if (keyword !== 'additionalProperties') return [];
  const known = keysOf(schemaFor(schema, instancePath).node);
  const glued = gluedAmong(String(params['additionalProperty']), known);
  return glued === undefined ? [] : [pointerTo(instancePath, glued.key)];
}

/** The branches of a `oneOf` and the grammar of a key's name are told by the error that contains them. */
const isTelling = (error: SchemaError, chosen: ReadonlySet<string>): boolean =>
  error.propertyName === undefined && (error.keyword === 'oneOf' || !chosen.has(error.instancePath));

function problemOf(context: Context): Problem {
  const secret = secretProblem(context);
  if (secret !== undefined) return secret;
  switch (context.error.keyword) {
    case 'additionalProperties':
      return unknownKey(context);
    case 'propertyNames':
      return badName(context);
    case 'type':
      return typeProblem(placed(context), context.error, shownValue(context));
    case 'const':
    case 'enum':
    case 'oneOf':
      return notAllowed(context);
    case 'pattern':
      return badForm(context);
    default:
      return outOfRange(context);
  }
}

/** Keys that a section does not have are judged up to this many; a hundred problems are shown. */
const unknownKeysAtMost = 1_024;

/**
 * A copy of a value in which every list and map has at most one entry more than its schema allows, so that a value that
 * breaks a limit still does: validators gather errors in a time that grows with the square of their number. Keys that
 * the schema knows always stay.
 */
const boundedValue = (schema: unknown, value: unknown): unknown => bounded(schema, rootPart(schema), value);

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

const place = /^(\/(?:ssh|nodes\/[^/]+)\/password|\/placements\/[^/]+\/endpoint\/apiKey)(?:\/|$)/u;

/** The problem of whatever is wrong at a password: it names the key, and nothing that stands there. */
function secretProblem({ document, error }: Context): Problem | undefined {
  const pointer = place.exec(error.instancePath)?.[1];
  if (pointer === undefined) return undefined;
  const forms = pointer.endsWith('/apiKey')
    ? 'exactly one of env, file or command, in its form, or a list of such sources'
    : 'exactly one of env, file, command or prompt, in its form';
  const detail = `What stands here names no source: ${forms}.`;
  return { code: 'secret/not-a-source', span: spanOf(document.map, { pointer, at: 'key' }), pointer, detail };
}
