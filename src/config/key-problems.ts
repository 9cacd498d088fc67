import { didYouMean, listText } from '../desired/did-you-mean.ts';
import { escapeText } from '../diagnostics/escape.ts';
import { type Problem, quoted } from './problem.ts';
import type { ReadDocument } from './read-document.ts';
import {
  type Context,
  descriptionOf,
  exampleOf,
  keysOf,
  namesOf,
  type SchemaError,
  sectionsWithKey,
} from './schema-context.ts';
import { pointerText, pointerTo, type Span, spanOf } from './source-map.ts';
import { type GluedKey, gluedKey, spaceHint } from './syntax-problems.ts';

/** A model identifier that a map in braces split at its comma: `{ model: Mac16,9 }`. */
export interface SplitModel {
  /** The pointer of the first half. */
  readonly pointer: string;
  /** Both halves with the comma. */
  readonly span: Span;
  readonly text: string;
}

/** The identifier of which this unknown key is the second half, if it is one. */
function splitModelAt({ map, source }: ReadDocument, error: SchemaError): SplitModel | undefined {
  const half = String(error.params['additionalProperty']);
  const pointer = pointerTo(error.instancePath, 'model');
  const model = map.get(pointer);
  const second = map.get(pointerTo(error.instancePath, half));
  if (model === undefined || second?.key === undefined) return undefined;
  const isAlone = second.raw === '' || (second.raw === undefined && second.value.start === second.key.start);
  if (!isAlone) return undefined;
  const span = { start: model.value.start, end: second.key.end };
  const text = source.text.slice(span.start, Math.min(span.end, span.start + 64));
  return /^[A-Z][A-Za-z]*[0-9]{1,2},[1-9][0-9]?$/.test(text) ? { pointer, span, text } : undefined;
}

/** The split identifiers among the findings of a validator, by the pointer of their first half. */
export function splitModels(document: ReadDocument, errors: readonly SchemaError[]): ReadonlyMap<string, SplitModel> {
  const wrong = new Set(errors.filter(({ keyword }) => keyword === 'pattern').map((error) => error.instancePath));
  const found = new Map<string, SplitModel>();
  for (const error of errors) {
    const split = splitModelAt(document, error);
    if (split !== undefined && wrong.has(split.pointer)) found.set(split.pointer, split);
  }
  return found;
}

/** Whether an error is about the second half of a split identifier, which the first half explains. */
export const isSecondHalf = (
  document: ReadDocument,
  splits: ReadonlyMap<string, SplitModel>,
  error: SchemaError,
): boolean => splits.has(splitModelAt(document, error)?.pointer ?? '');

/** Why a host, a user, a name or a file must not reach a command line, as one sentence; undefined for harmless text. */
export function dangerIn(text: string): string | undefined {
  if (text.startsWith('-')) return 'It begins with a dash, so a program would read it as an option.';
  const control = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.exec(text);
  if (control !== null) return `It contains ${escapeText(control[0])}, which nobody can see.`;
  const shell = /[;&|`$<>(){}[\]\\"'*?!#]/.exec(text);
  if (shell !== null) return `It contains ${shell[0]}, which a shell would act on.`;
  if (/\.\.|\/|^~/.test(text) || text === '.') return 'It could become a path.';
  return undefined;
}

/** The problem of a key that the section does not have. */
export function unknownKey({ schema, document, error, part }: Context): Problem {
  const key = String(error.params['additionalProperty']);
  const pointer = pointerTo(error.instancePath, key);
  const known = keysOf(part.node);
  const glued = gluedAmong(key, known);
  const near = glued === undefined ? didYouMean(key, known) : undefined;
  const elsewhere = sectionsWithKey(schema, key);
  return {
    code: 'schema/unknown-key',
    span: spanOf(document.map, { pointer, at: 'key' }),
    pointer,
    detail: `${quoted(key)} is not a key of ${pointerText(error.instancePath)}.`,
    hint: glued === undefined ? hintForUnknown({ key, near }, known, elsewhere) : spaceHint(glued),
    ...(near === undefined ? {} : { label: `did you mean ${near}?` }),
  };
}

/** A known key that runs into its value: `host:b.lan`. */
export function gluedAmong(key: string, known: readonly string[]): GluedKey | undefined {
  const glued = gluedKey(key);
  return glued !== undefined && known.includes(glued.key) ? glued : undefined;
}

function hintForUnknown(
  { key, near }: { readonly key: string; readonly near: string | undefined },
  known: readonly string[],
  elsewhere: readonly string[],
): string {
  if (near !== undefined) return `Did you mean \`${near}\`?`;
  if (elsewhere.length > 0) return `\`${key}\` belongs under ${listText(elsewhere, 'or')}.`;
  return `Known here: ${listText(known)}.`;
}

/** The problem of keys that the section needs and does not have: all of them at once. */
export function missingKeys({ schema, document, error, part }: Context, keys: readonly string[]): Problem {
  const pointer = error.instancePath;
  const section = pointer === '' ? 'The file' : pointerText(pointer);
  const isOne = keys.length === 1;
  const names = keys.map((key) => `\`${key}\``);
  const lines = keys.map((key) => {
    const example = exampleOf(schema, part.node, key);
    return { text: `\`${key}:${example === undefined ? '' : ` ${example}`}\``, isExample: example !== undefined };
  });
  const add = lines.some(({ isExample }) => isExample) ? `Add ${isOne ? 'it' : 'them'}, such as ` : 'Add ';
  return {
    code: 'schema/missing-key',
    span: spanOf(document.map, { pointer, at: 'key' }),
    pointer,
    detail: `${section} has no ${listText(names, 'or')}.`,
    hint: `${add}${listText(lines.map(({ text }) => text))}.`,
    label: `${listText(keys)} ${isOne ? 'is' : 'are'} missing`,
  };
}

/** Definitions of names with slashes or arrows: whatever is wrong in one, none of them becomes a word of a command. */
const isPathLike: ReadonlySet<string> = new Set(['filePath', 'link', 'network']);

/** The problem of a key whose name is not allowed. */
export function badName({ schema, document, error, part }: Context): Problem {
  const name = String(error.params['propertyName']);
  const pointer = pointerTo(error.instancePath, name);
  const { node, definition } = namesOf(schema, part.node);
  const danger = isPathLike.has(definition ?? '') ? undefined : dangerIn(name);
  const lower = name.toLowerCase();
  const rule = descriptionOf(node);
  return {
    code: danger === undefined ? 'schema/bad-name' : 'schema/unsafe-text',
    span: spanOf(document.map, { pointer, at: 'key' }),
    pointer,
    detail: `${quoted(name)} cannot be a name here.${danger === undefined ? '' : ` ${danger}`}`,
    hint: lower !== name && /^[a-z0-9-]+$/.test(lower) ? `Write \`${lower}\`. ${rule}` : rule,
  };
}

/** The problem of a model identifier that a map in braces split at its comma. */
export const splitModel = ({ pointer, span, text }: SplitModel): Problem => ({
  code: 'schema/bad-form',
  span,
  pointer,
  detail: `Inside braces the comma ends the value, so ${quoted(text)} is two entries.`,
  hint: `Put it in quotes: \`model: "${text}"\`.`,
});
