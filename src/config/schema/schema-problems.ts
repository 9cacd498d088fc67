import { boundedValue } from '../bounded-value.ts';
import { pointerTo } from '../document/pointer.ts';
import type { ReadDocument } from '../document/read-document.ts';
import type { Problem } from '../problem.ts';
import { secretProblem } from '../secret-places.ts';
import { isSecondHalf, splitModels } from '../split-model.ts';
import { badName, gluedAmong, missingKeys, unknownKey } from './key-problems.ts';
import { type Context, placed, shownValue } from './schema-context.ts';
import type { CompiledSchema, SchemaError } from './schema-error.ts';
import { keysOf, schemaFor } from './schema-lookup.ts';
import { typeProblem } from './type-problem.ts';
import { badForm, notAllowed, outOfRange, splitModel } from './value-problems.ts';

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
