import { didYouMean, listText } from '../desired/did-you-mean.ts';
import { pointerText, pointerTo } from './pointer.ts';
import type { Problem } from './problem.ts';
import { type Context, quoted } from './schema-context.ts';
import { descriptionOf, exampleOf, keysOf, namesOf, sectionsWithKey } from './schema-lookup.ts';
import { spanOf } from './source-map.ts';
import { dangerIn } from './unsafe-text.ts';

/** The problem of a key that the section does not have. */
export function unknownKey({ schema, document, error, part }: Context): Problem {
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

/** The problem of a key that the section needs. */
export function missingKey({ schema, document, error, part }: Context): Problem {
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

/** The problem of a key whose name is not allowed. */
export function badName({ schema, document, error, part }: Context): Problem {
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
