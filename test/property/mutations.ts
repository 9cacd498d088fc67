/** One-line mistakes in a valid cluster file, drawn by a seed: what people mistype, move, lose and paste. */

/** A file with one mistake. */
export interface Mutation {
  readonly kind: string;
  readonly text: string;
  /** The changed line and its pair, from 1. */
  readonly lines: readonly number[];
  /** The line that was removed, and the number of the line before it. */
  readonly removed?: { readonly line: string; readonly after: number };
}

/** Draws a whole number below a limit. */
export type Draw = (below: number) => number;

/** The same draws for the same seed (mulberry32). */
export function drawsBy(seed: number): Draw {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

const indentOf = (line: string): number => line.length - line.trimStart().length;
const indented = (line: string, by: number): string | undefined =>
  indentOf(line) + by < 0 ? undefined : `${' '.repeat(indentOf(line) + by)}${line.trimStart()}`;

/** The code of a line, without its comment. */
const codeOf = (line: string): string => line.replace(/(?:^|\s+)#.*$/, '');

/** One of the places in a line's code that match; undefined if there are none. */
function placeIn(
  line: string,
  pattern: RegExp,
  draw: Draw,
): { readonly start: number; readonly text: string } | undefined {
  const found = [...codeOf(line).matchAll(pattern)];
  const match = found[found.length === 0 ? 0 : draw(found.length)];
  return match === undefined ? undefined : { start: match.index, text: match[0] };
}

/** The line with one matching place replaced; undefined if none matches. */
function replaced(
  pattern: RegExp,
  by: (text: string, draw: Draw) => string | undefined,
): (line: string, draw: Draw) => string | undefined {
  return (line, draw) => {
    const place = placeIn(line, pattern, draw);
    const text = place === undefined ? undefined : by(place.text, draw);
    if (place === undefined || text === undefined || text === place.text) return undefined;
    return `${line.slice(0, place.start)}${text}${line.slice(place.start + place.text.length)}`;
  };
}

const letter = (draw: Draw): string => 'abcdefghijklmnopqrstuvwxyz'[draw(26)] ?? 'x';

/** A word with two letters swapped, or one letter left out, doubled or replaced. */
function misspelled(word: string, draw: Draw): string | undefined {
  const at = draw(word.length);
  const before = word.slice(0, at);
  const here = word[at] ?? '';
  const after = word.slice(at + 1);
  if (!/[A-Za-z]/.test(here)) return undefined;
  const ways = [
    `${before}${after.slice(0, 1)}${here}${after.slice(1)}`,
    `${before}${after}`,
    `${before}${here}${here}${after}`,
    `${before}${letter(draw)}${after}`,
  ];
  return word.length < 3 ? ways[3] : ways[draw(ways.length)];
}

function wrongCase(word: string, draw: Draw): string | undefined {
  const ways = [word.slice(0, 1).toUpperCase() + word.slice(1), word.toUpperCase(), word.toLowerCase()];
  return ways[draw(ways.length)];
}

const key = /(?<=^\s*(?:- )?|[{,] ?)[A-Za-z][\w.-]*(?=:(?: |$))/g;
const word = /(?<=(?:: |[[,] ?|- )["']?)[A-Za-z_][\w-]{2,}(?=["']?(?:$|[\s,\]}]))/g;
const number = /(?<=[ "])[0-9]+(?=$|[\s",}\]])/g;

/** Changes within a line. */
const inLine: Readonly<Record<string, (line: string, draw: Draw) => string | undefined>> = {
  'indent two less': (line) => indented(line, -2),
  'indent one less': (line) => indented(line, -1),
  'indent two more': (line) => indented(line, 2),
  'indent one more': (line) => indented(line, 1),
  'tab as indent': (line) =>
    /^ {2}/.test(line) ? line.replace(/^(?: {2})+/, (blank) => '\t'.repeat(blank.length / 2)) : undefined,
  'misspell a key': replaced(key, misspelled),
  'key in the wrong case': replaced(key, wrongCase),
  'dash removed': replaced(/(?<=^\s*)- /g, () => ''),
  'colon removed': replaced(/:(?= |$)/g, () => ''),
  'colon space removed': replaced(/(?<=\w): (?=\S)/g, () => ':'),
  'value removed': replaced(/(?<=^\s*[\w.-]+:) +\S.*$/g, () => ''),
  'bracket removed': replaced(/[[\]{}]/g, () => ''),
  'quote removed': replaced(/["']/g, () => ''),
  'comma removed': replaced(/,(?= )/g, () => ''),
  'type changed': replaced(
    /(?<=^\s*[\w.-]+: )\S.*$/g,
    (_, draw) => ['[1, 2]', '{ a: 1 }', 'true', '17.5', 'null'][draw(5)],
  ),
  'number changed': replaced(number, (_, draw) => ['-1', '0', '99999999', '1.5', '1e3', '0x1f'][draw(6)]),
  'unit changed': replaced(
    /(?<=\d)(?:GB|GiB|k|s|m|Mb\/s)(?=$|[\s",}])/g,
    (_, draw) => ['', 'G', 'XB', ' GB', 'h'][draw(5)],
  ),
  'arrow changed': replaced(/<->/g, (_, draw) => ['->', '<-', '--', '<=>', '-', 'to'][draw(6)]),
  'receptacle changed': replaced(/(?<=[a-z0-9]:)[0-9](?= <->|$)/g, (_, draw) => ['0', '9', '', 'x', '17'][draw(5)]),
  'name in a link': replaced(/[a-z][\w-]*(?=:[0-9](?: <->|$))/g, misspelled),
  'misspelled value': replaced(word, misspelled),
};

/** The kinds, with their shares of the invalid files. */
export const shares: Readonly<Record<string, number>> = {
  'indent two less': 88,
  'indent one less': 70,
  'indent two more': 107,
  'indent one more': 106,
  'duplicate a line elsewhere': 57,
  'swap two distant lines': 116,
  'swap two lines': 38,
  'misspell a key': 124,
  'key in the wrong case': 124,
  'delete a line': 91,
  'dash removed': 9,
  'tab as indent': 84,
  'colon removed': 110,
  'value removed': 87,
  'colon space removed': 49,
  'bracket removed': 49,
  'quote removed': 49,
  'comma removed': 49,
  'type changed': 49,
  'number changed': 49,
  'unit changed': 49,
  'arrow changed': 49,
  'receptacle changed': 49,
  'name in a link': 49,
  'misspelled value': 49,
  'line doubled': 49,
};

export const isCode = (line: string): boolean => codeOf(line).trim() !== '';

/** A file with a mistake of one kind; undefined if the drawn line cannot have it. */
export function mutate(text: string, kind: string, draw: Draw): Mutation | undefined {
  const lines = text.split('\n');
  const places = [...lines.keys()].filter((at) => isCode(lines[at] ?? ''));
  const order = draw(places.length);
  const at = places[order] ?? 0;
  const line = lines[at] ?? '';
  const made = (edited: readonly string[], ...changed: readonly number[]): Mutation | undefined =>
    edited.join('\n') === text ? undefined : { kind, text: edited.join('\n'), lines: changed.map((one) => one + 1) };
  if (kind === 'delete a line') {
    const mutation = made(lines.toSpliced(at, 1));
    return mutation === undefined ? undefined : { ...mutation, removed: { line, after: at } };
  }
  if (kind === 'line doubled') return made(lines.toSpliced(at, 0, line), at, at + 1);
  if (kind === 'duplicate a line elsewhere') {
    const to = places[draw(places.length)] ?? 0;
    return Math.abs(to - at) < 2 ? undefined : made(lines.toSpliced(to, 0, line), to, to < at ? at + 1 : at);
  }
  if (kind.startsWith('swap')) {
    const other = kind === 'swap two lines' ? places[order + 1] : places[draw(places.length)];
    if (other === undefined || (kind === 'swap two distant lines' && Math.abs(other - at) < 3)) return undefined;
    return made(lines.with(at, lines[other] ?? '').with(other, line), at, other);
  }
  const changed = inLine[kind]?.(line, draw);
  return changed === undefined ? undefined : made(lines.with(at, changed), at);
}
