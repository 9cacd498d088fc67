import { didYouMean, listText } from '../desired/did-you-mean.ts';
import { escapeText } from '../diagnostics/escape.ts';
import { lastKey, pointerText, pointerTo } from './pointer.ts';
import type { Problem } from './problem.ts';
import type { ReadDocument } from './read-document.ts';
import type { CompiledSchema, SchemaError } from './schema-error.ts';
import {
  descriptionOf,
  exampleOf,
  keysOf,
  namesOf,
  type SchemaPart,
  schemaFor,
  sectionsWithKey,
} from './schema-lookup.ts';
import { spanOf } from './source-map.ts';
import { typeProblem } from './type-problem.ts';
import { dangerIn } from './unsafe-text.ts';

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

interface Context {
  readonly schema: unknown;
  readonly document: ReadDocument;
  readonly error: SchemaError;
  /** What the schema has for the value that is wrong, or for the map whose key is. */
  readonly part: SchemaPart;
}

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

/** Where the value stands, what it is, and what the schema says about it. */
function placed({ document, error, part }: Context) {
  const pointer = error.instancePath;
  const entry = document.map.get(pointer);
  return {
    pointer,
    span: spanOf(document.map, { pointer, at: 'value' }),
    raw: entry?.raw ?? '',
    description: descriptionOf(part.node),
    value: valueAt(document.value, pointer),
  };
}

/** The value at a JSON pointer, or undefined. */
export function valueAt(root: unknown, pointer: string): unknown {
  let value = root;
  for (const part of pointer.split('/').slice(1)) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = Reflect.get(value, lastKey(`/${part}`));
  }
  return value;
}

const shorten = (text: string): string => (text.length > 60 ? `${text.slice(0, 57)}...` : text);
const quoted = (text: string): string => `\`${escapeText(shorten(text))}\``;

function shownValue(context: Context): string {
  const { raw, value } = placed(context);
  if (raw !== '') return quoted(raw);
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' && value !== null ? 'a map' : 'nothing';
}

function unknownKey({ schema, document, error, part }: Context): Problem {
  const key = String(error.params['additionalProperty']);
  const pointer = pointerTo(error.instancePath, key);
  const known = keysOf(part.node);
  const near = didYouMean(key, known);
  const elsewhere = sectionsWithKey(schema, key);
  return {
    code: 'schema/unknown-key',
    span: spanOf(document.map, { pointer, at: 'key' }),
    pointer,
    detail: `${quoted(key)} is not a key of ${pointerText(error.instancePath)}.`,
    hint: near !== undefined ? `Did you mean \`${near}\`?` : hintForUnknown(key, known, elsewhere),
    ...(near === undefined ? {} : { label: `did you mean ${near}?` }),
  };
}

function hintForUnknown(key: string, known: readonly string[], elsewhere: readonly string[]): string {
  if (elsewhere.length > 0) return `\`${key}\` belongs under ${listText(elsewhere, 'or')}.`;
  return `Known here: ${listText(known)}.`;
}

function missingKey({ schema, document, error, part }: Context): Problem {
  const key = String(error.params['missingProperty']);
  const pointer = error.instancePath;
  const example = exampleOf(schema, part.node, key);
  return {
    code: 'schema/missing-key',
    span: spanOf(document.map, { pointer, at: 'key' }),
    pointer,
    detail: `${pointer === '' ? 'The file' : pointerText(pointer)} has no \`${key}\`.`,
    hint: example === undefined ? `Add \`${key}:\`.` : `Add it, such as \`${key}: ${example}\`.`,
    label: `${key} is missing`,
  };
}

function badName({ schema, document, error, part }: Context): Problem {
  const name = String(error.params['propertyName']);
  const pointer = pointerTo(error.instancePath, name);
  const danger = dangerIn(name);
  const lower = name.toLowerCase();
  const rule = descriptionOf(namesOf(schema, part.node).node);
  return {
    code: danger === undefined ? 'schema/bad-name' : 'schema/unsafe-text',
    span: spanOf(document.map, { pointer, at: 'key' }),
    pointer,
    detail: `${quoted(name)} cannot be a name here.${danger === undefined ? '' : ` ${danger}`}`,
    hint: lower !== name && /^[a-z0-9-]+$/.test(lower) ? `Write \`${lower}\`. ${rule}` : rule,
  };
}

function notAllowed(context: Context): Problem {
  const { pointer, span, description, value } = placed(context);
  const { error } = context;
  if (error.keyword === 'const') {
    const detail = `This is ${shownValue(context)}; this meshwright knows format ${String(error.params['allowedValue'])}.`;
    return { code: 'schema/unsupported-version', span, pointer, detail };
  }
  const shown = shownValue(context);
  const detail = shown === 'nothing' ? 'Nothing stands here.' : `${capital(shown)} is not allowed here.`;
  if (error.keyword === 'oneOf') return { code: 'schema/not-allowed', span, pointer, detail, hint: description };
  const allowed = (error.params['allowedValues'] as readonly unknown[]).map(String);
  const near = didYouMean(String(value), allowed);
  const list = `Allowed: ${listText(allowed, 'or')}.`;
  return {
    code: 'schema/not-allowed',
    span,
    pointer,
    detail,
    hint: near === undefined ? list : `Did you mean \`${near}\`? ${list}`,
  };
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** Definitions whose text reaches a command line. */
const reachesCommandLine = new Set(['name', 'user', 'host', 'identityFile']);

function badForm(context: Context): Problem {
  const { pointer, span, description, value } = placed(context);
  const text = String(value);
  const definition = context.part.definition ?? '';
  const danger = reachesCommandLine.has(definition) ? dangerIn(text) : undefined;
  const advice = definition === 'host' ? hostAdvice(text) : undefined;
  return {
    code: danger === undefined ? 'schema/bad-form' : 'schema/unsafe-text',
    span,
    pointer,
    detail: `${text === '' ? 'An empty text' : quoted(text)} cannot stand here.${danger === undefined ? '' : ` ${danger}`}`,
    hint: advice ?? description,
  };
}

function hostAdvice(text: string): string | undefined {
  const user = /^([A-Za-z_][A-Za-z0-9_.-]*)@(.+)$/.exec(text);
  if (user !== null) return `Write \`user: ${user[1]}\` and \`host: ${user[2]}\`.`;
  const port = /^\[?([A-Za-z0-9.-]+)\]?:([0-9]{1,5})$/.exec(text);
  return port === null ? undefined : `Write \`host: ${port[1]}\` and \`port: ${port[2]}\`.`;
}

const singular: Readonly<Record<string, string>> = { entries: 'entry', characters: 'character' };

function outOfRange(context: Context): Problem {
  const { pointer, span, description, value } = placed(context);
  const { keyword, params } = context.error;
  const limit = String(params['limit']);
  const counted = { Properties: 'entries', Items: 'entries', Length: 'characters' };
  const unit = Object.entries(counted).find(([end]) => keyword.endsWith(end))?.[1];
  const noun = unit !== undefined && limit === '1' ? singular[unit] : unit;
  const bound = `${keyword.startsWith('max') ? 'At most' : 'At least'} ${limit}${noun === undefined ? '' : ` ${noun}`}`;
  const shown = typeof value === 'number' ? `, and this is ${value}` : '';
  return {
    code: 'schema/out-of-range',
    span,
    pointer,
    detail: `${bound} can stand here${shown}.`,
    ...(description === '' ? {} : { hint: description }),
  };
}
