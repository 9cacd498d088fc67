/** Damage that an output can suffer, and what a fact may still say of it. */

/**
 * Whether nothing in `part` is untrue, given that `whole` is true: equal values; lists that stop early; fields that are
 * left out; `unknown` in place of a value.
 */
export function isPartOf(part: unknown, whole: unknown): boolean {
  if (part === 'unknown' || Object.is(part, whole)) return true;
  if (Array.isArray(part) && Array.isArray(whole)) {
    return part.length <= whole.length && part.every((one, at) => isPartOf(one, whole[at]));
  }
  if (!isObject(part) || !isObject(whole)) return false;
  return Object.keys(part).every((key) => Object.hasOwn(whole, key) && isPartOf(part[key], whole[key]));
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The text cut after each of its lines, from nothing to all but the last. */
export function cutAtLines(text: string): readonly string[] {
  const lines = text.split('\n').slice(0, -1);
  return lines.map((_, at) =>
    lines
      .slice(0, at)
      .map((line) => `${line}\n`)
      .join(''),
  );
}

/** The text cut after each of its characters. */
export const cutAtCharacters = (text: string): readonly string[] =>
  Array.from({ length: text.length }, (_, at) => text.slice(0, at));

/** What tools that break, and nodes that lie, put between lines. */
export const rubbishLines = [
  '',
  '   ',
  '}',
  '{',
  '...',
  'null',
  'Segmentation fault: 11',
  'dyld[412]: Library not loaded: /usr/lib/librdma.dylib',
  '### Error:-99 File:InternetServices.m Line:395',
  '\u001b[31mred\u001b[0m',
  '\u001b]0;owned\u0007',
  '::error file=cluster.yaml::forged',
  '<?xml version="1.0"?>',
  '\u0000\u0000\u0000',
  '"; rm -rf "$HOME"; "',
  '$(reboot)',
  '🙃 héllo',
] as const;

/** Characters that no stock tool prints. */
export const rubbishCharacters = ['\0', '\u0007', '\b', '\r', '\u001b', '\u007f', '\u0085'] as const;

/** The text with a line put before each of its lines and after the last. */
export function withLine(text: string, line: string): readonly string[] {
  const lines = text.split('\n').slice(0, -1);
  return [...lines, ''].map((_, at) => [...lines.slice(0, at), line, ...lines.slice(at), ''].join('\n'));
}

/** The text with a character put at each place. */
export const withCharacter = (text: string, character: string): readonly string[] =>
  Array.from({ length: text.length + 1 }, (_, at) => text.slice(0, at) + character + text.slice(at));

/** The JSON text without one of its keys, for every key at every depth; nothing for a text that is no JSON. */
export function withoutEachKey(text: string): readonly string[] {
  const parsed = parse(text);
  return parsed === undefined ? [] : pathsOf(parsed).map((path) => `${JSON.stringify(without(parsed, path))}\n`);
}

/** The JSON text with each of its values replaced by one of another kind. */
export function withEachValueReplaced(text: string, value: unknown): readonly string[] {
  const parsed = parse(text);
  return parsed === undefined
    ? []
    : pathsOf(parsed).map((path) => `${JSON.stringify(replaced(parsed, path, value))}\n`);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

type Path = readonly string[];

function pathsOf(value: unknown): readonly Path[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const own: Path[] = Array.isArray(value) ? [] : [[key]];
    return [...own, ...pathsOf(inner).map((path) => [key, ...path])];
  });
}

function without(value: unknown, [key = '', ...rest]: Path): unknown {
  return edited(value, key, (inner) => (rest.length === 0 ? undefined : without(inner, rest)));
}

function replaced(value: unknown, [key = '', ...rest]: Path, by: unknown): unknown {
  return edited(value, key, (inner) => (rest.length === 0 ? by : replaced(inner, rest, by)));
}

function edited(value: unknown, key: string, edit: (inner: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map((inner, at) => (String(at) === key ? edit(inner) : inner));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([own, inner]) => [own, own === key ? edit(inner) : inner]));
}
