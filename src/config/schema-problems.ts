import { badName, missingKey, unknownKey } from './key-problems.ts';
import type { Problem } from './problem.ts';
import type { ReadDocument } from './read-document.ts';
import { type Context, placed, shownValue } from './schema-context.ts';
import type { CompiledSchema, SchemaError } from './schema-error.ts';
import { schemaFor } from './schema-lookup.ts';
import { typeProblem } from './type-problem.ts';
import { badForm, notAllowed, outOfRange } from './value-problems.ts';

/** Everything in which a document differs from its schema: one problem for each place, the most telling one. */
export function schemaProblems(compiled: CompiledSchema, document: ReadDocument): readonly Problem[] {
  if (compiled.validate(document.value)) return [];
  const errors = compiled.validate.errors ?? [];
  const chosen = new Set(errors.filter((error) => error.keyword === 'oneOf').map((error) => error.instancePath));
  return errors
    .filter((error) => isTelling(error, chosen))
    .map((error) =>
      problemOf({ schema: compiled.schema, document, error, part: schemaFor(compiled.schema, error.instancePath) }),
    );
}

/** The branches of a `oneOf` and the grammar of a key's name are told by the error that contains them. */
const isTelling = (error: SchemaError, chosen: ReadonlySet<string>): boolean =>
  error.propertyName === undefined && (error.keyword === 'oneOf' || !chosen.has(error.instancePath));

function problemOf(context: Context): Problem {
  switch (context.error.keyword) {
    case 'additionalProperties':
      return unknownKey(context);
    case 'required':
      return missingKey(context);
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
