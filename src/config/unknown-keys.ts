import { didYouMean, nameHint } from '../desired/did-you-mean.ts';
import { pointerTo } from '../desired/draft.ts';
import { listText } from '../model/lists.ts';
import { type Problem, quoted } from './problem.ts';
import type { ReadDocument } from './read-document.ts';
import { type CompiledSchema, keysOf, type SchemaError, schemaFor, sectionsWithKey } from './schema-part.ts';
import { type Entry, lastKey, pointerText, spanOf } from './source-map.ts';
import { type GluedKey, gluedKey, spaceHint } from './syntax-problems.ts';

const newNames: ReadonlyMap<unknown, string> = new Map([
  ['doorman', 'gateway'],
  ['takenBack', 'rolledBack'],
]);

/** The new name of a renamed key or value, if it is allowed here. */
export function newName(old: unknown, allowed: readonly string[]): string | undefined {
  const name = newNames.get(old);
  return name !== undefined && allowed.includes(name) ? name : undefined;
}

export function unknownKey(schema: unknown, document: ReadDocument, error: SchemaError): Problem {
  const key = String(error.params['additionalProperty']);
  const pointer = pointerTo(error.instancePath, key);
  const span = spanOf(document.map, { pointer, at: 'key' });
  const known = keysOf(schemaFor(schema, error.instancePath).node);
  const renamed = newName(key, known);
  if (renamed !== undefined) {
    const detail = `The key ${quoted(key)} is now called \`${renamed}\`.`;
    return { code: 'schema/unknown-key', span, pointer, detail, hint: 'Rename the key. Its values stay the same.' };
  }
  const glued = gluedAmong(key, known);
  const near = glued === undefined ? didYouMean(key, known) : undefined;
  return {
    code: 'schema/unknown-key',
    span,
    pointer,
    detail: `${quoted(key)} is not a key of ${pointerText(error.instancePath)}.`,
    ...nameHint(
      near,
      glued === undefined ? hintForUnknown(key, known, sectionsWithKey(schema, key)) : spaceHint(glued),
    ),
  };
}

/** Recognizes a known key without the space before its value: `host:b.lan`. */
export function gluedAmong(key: string, known: readonly string[]): GluedKey | undefined {
  const glued = gluedKey(key);
  return glued !== undefined && known.includes(glued.key) ? glued : undefined;
}

function hintForUnknown(key: string, known: readonly string[], elsewhere: readonly string[]): string {
  if (elsewhere.length > 0) return `\`${key}\` belongs under ${listText(elsewhere, 'or')}.`;
  return `Known keys here: ${listText(known)}.`;
}

/** The pointers of the keys that unknown keys stand for, by the pointers of the unknown keys. */
export function intendedKeys(schema: unknown, errors: readonly SchemaError[]): ReadonlyMap<string, string> {
  return new Map(
    errors.flatMap(({ keyword, params, instancePath }) => {
      if (keyword !== 'additionalProperties') return [];
      const key = String(params['additionalProperty']);
      const known = keysOf(schemaFor(schema, instancePath).node);
      const intended = gluedAmong(key, known)?.key ?? newName(key, known) ?? didYouMean(key, known);
      return intended === undefined ? [] : [[pointerTo(instancePath, key), pointerTo(instancePath, intended)] as const];
    }),
  );
}

/** The document with the keys that its misspelled keys stand for, so that no rule misses a key that is there. */
export function asIntended(compiled: CompiledSchema, document: ReadDocument): ReadDocument {
  if (compiled.validate(document.value)) return document;
  const intended = new Map(
    [...intendedKeys(compiled.schema, compiled.validate.errors ?? [])].filter(([, to]) => !document.map.has(to)),
  );
  if (intended.size === 0) return document;
  const map = new Map<string, Entry>();
  for (const [pointer, entry] of document.map) map.set(renamed(pointer, intended), entry);
  return { ...document, map, value: renamedValue(document.value, '', intended) };
}

function renamed(pointer: string, intended: ReadonlyMap<string, string>): string {
  for (let end = pointer.length; end > 0; end = pointer.lastIndexOf('/', end - 1)) {
    const to = intended.get(pointer.slice(0, end));
    if (to !== undefined) return to + pointer.slice(end);
  }
  return pointer;
}

function renamedValue(value: unknown, pointer: string, intended: ReadonlyMap<string, string>): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item, index) => renamedValue(item, pointerTo(pointer, index), intended));
  const copy: Record<string, unknown> = Object.create(null);
  for (const [key, inner] of Object.entries(value)) {
    const at = pointerTo(pointer, key);
    copy[lastKey(intended.get(at) ?? at)] = renamedValue(inner, at, intended);
  }
  return copy;
}
