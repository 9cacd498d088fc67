import { didYouMean, listText } from '../../desired/did-you-mean.ts';
import { type GluedKey, gluedKey, spaceHint } from '../document/glued-key.ts';
import { pointerText, pointerTo } from '../document/pointer.ts';
import { quoted } from '../document/quoted.ts';
import { spanOf } from '../document/source-map.ts';
import { dangerIn } from '../document/unsafe-text.ts';
import type { Problem } from '../problem.ts';
import type { Context } from './schema-context.ts';
import { descriptionOf, exampleOf, keysOf, namesOf, sectionsWithKey } from './schema-lookup.ts';

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
