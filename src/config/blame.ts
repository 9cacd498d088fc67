/**
 * Finds the line that keeps a file from being read because it begins at a wrong column or is in a wrong place. A parser
 * notices such a mistake only on a later line, or on an earlier one. So every line near the parser's error is repaired in
 * a few ways. The line to blame is the one whose repair lets the parser read furthest. If several repairs make the whole
 * file readable, the one that leaves the fewest mistakes in it wins.
 */
import { given } from '../model/given.ts';
import { tally } from '../model/lists.ts';

/** A repair of one line; lines and columns count from 0. */
export interface Repair extends LineChange {
  /** The repaired text, with as many lines. */
  readonly text: string;
}

interface LineChange {
  readonly kind: 'column' | 'dash' | 'colon' | 'order' | 'stray' | 'key';
  readonly line: number;
  /** The column at which the line begins. */
  readonly column: number;
  /** Another line: one that begins at the right column, or the one to swap with. */
  readonly other?: number;
  readonly edited: readonly string[];
}

export interface RepairTests {
  /** The line of the first error in a text; undefined if the text can be read. */
  readonly firstError: (text: string) => number | undefined;
  /** The number of mistakes in a file. */
  readonly mistakes: (text: string) => number;
}

const linesBefore = 24;
const linesAfter = 40;
/** Only so many lines are tried for anything but another column. */
const nearest = 9;
const lettersAtMost = 10_000;

const indentOf = (line = ''): number => line.length - line.trimStart().length;
const isCode = (line = ''): boolean => !/^\s*(?:#|$)/.test(line);
/** True for a key without a value on its line. */
const isSection = (line = ''): boolean => /^[^#]*:\s*(?:#|$)/.test(line);
const isItem = (line = ''): boolean => /^\s*-(?:\s|$)/.test(line);
const moved = (line: string, column: number): string => `${' '.repeat(column)}${line.trimStart()}`;

/** Finds the repair for the first error of a text, which the parser reports at this line; undefined if none helps. */
export function blame(text: string, error: number, { firstError, mistakes }: RepairTests): Repair | undefined {
  const lines = text.split('\n');
  const view = viewOf(lines, error);
  const reachOf = (edited: readonly string[]): number => {
    const shown = view.map((at) => edited[at] ?? '').join('\n');
    const found = shown.length > lettersAtMost ? 0 : firstError(shown);
    return found === undefined ? Number.POSITIVE_INFINITY : (view[found] ?? lines.length);
  };
  let best: (Repair & { readonly reach: number; readonly left: number }) | undefined;
  for (const change of changes(lines, linesToTry(lines, error), error)) {
    const reach = reachOf(change.edited);
    if (reach <= error || reach < (best?.reach ?? 0)) continue;
    const repaired = change.edited.join('\n');
    const left = reach < Number.POSITIVE_INFINITY ? reach : mistakes(repaired) - (change.kind === 'key' ? 1 : 0);
    if (change.kind === 'order' && left > 0) continue;
    if (best !== undefined && reach === best.reach && left >= best.left) continue;
    best = { ...change, text: repaired, reach, left };
    if (left === 0) break;
  }
  return best;
}

const errorsAtMost = 3;
const trialsAtMost = 40;

/** Finds the repair of a line at one of the first errors of a readable file that removes all mistakes; or undefined. */
export function blameReadable(
  text: string,
  errors: readonly number[],
  mistakes: RepairTests['mistakes'],
): Repair | undefined {
  const lines = text.split('\n');
  const code = [...lines.keys()].filter((at) => isCode(lines[at]));
  const places = errors.slice(0, errorsAtMost).map((error) => code.indexOf(error));
  const tried = places.flatMap((at) => [code[at] ?? [], code[at - 1] ?? [], code[at + 1] ?? []].flat());
  let trials = 0;
  for (const change of changes(lines, [...new Set(tried)], errors[0] ?? 0)) {
    const line = lines[change.line] ?? '';
    const isTwice = lines.indexOf(line) !== lines.lastIndexOf(line);
    if (!['column', 'order', ...(isTwice ? ['stray'] : [])].includes(change.kind)) continue;
    trials += 1;
    const repaired = change.edited.join('\n');
    if (mistakes(repaired) === 0) return { ...change, text: repaired };
    if (trials === trialsAtMost) break;
  }
  return undefined;
}

/** The lines near an error, the nearest first: the line itself, those before it in its section, and two after it. */
function linesToTry(lines: readonly string[], error: number): readonly number[] {
  const after = [...lines.keys()].slice(error).filter((at) => isCode(lines[at]));
  const before: number[] = [];
  for (let at = error - 1; at >= 0 && before.length < linesBefore; at -= 1) {
    if (!isCode(lines[at])) continue;
    before.push(at);
    if (indentOf(lines[at]) === 0) break;
  }
  return [...after.slice(0, 1), ...before, ...after.slice(1, 3)];
}

/** The lines that show an error and the lines to try: these, the sections around them, and the lines after them. */
function viewOf(lines: readonly string[], error: number): readonly number[] {
  const first = Math.min(...linesToTry(lines, error));
  let start = first - 1;
  while (start > 0 && !isCode(lines[start])) start -= 1;
  start = Math.max(0, start);
  const sections = sectionsAround(lines, start);
  const shown = Array.from({ length: Math.min(lines.length, error + linesAfter) - start }, (_, at) => start + at);
  return [...sections, ...shown];
}

/** The lines above a line that each begin further left than the line below: the keys of the sections around it. */
function sectionsAround(lines: readonly string[], line: number): readonly number[] {
  const found: number[] = [];
  let column = indentOf(lines[line]);
  for (let at = line - 1; at >= 0 && column > 0; at -= 1) {
    if (!isCode(lines[at]) || indentOf(lines[at]) >= column) continue;
    found.unshift(at);
    column = indentOf(lines[at]);
  }
  return found;
}

/** The nearest lines of code, and the line of the error. */
interface Near {
  readonly before?: number;
  readonly after?: number;
  readonly error: number;
}
type Changes = (lines: readonly string[], line: number, near: Near) => readonly Pick<LineChange, 'edited' | 'other'>[];

/** The ways to repair a line, the likeliest first. */
const ways: Readonly<Record<LineChange['kind'], Changes>> = {
  column: (lines, line, near) =>
    columnsNear(lines, line, near).map(([column, other]) => ({
      other,
      edited: lines.with(line, moved(lines[line] ?? '', column)),
    })),
  dash: (lines, line, { before, after }) => {
    const other = [before, after].find((at) => at !== undefined && isItem(lines[at]));
    const own = lines[line] ?? '';
    if (other === undefined || isItem(own)) return [];
    return [{ other, edited: lines.with(line, moved(`- ${own.trimStart()}`, indentOf(lines[other]))) }];
  },
  colon: (lines, line) => {
    const own = lines[line] ?? '';
    const edited = own.replace(/^(\s*(?:- )?[A-Za-z][\w.-]*)(?=\s|$)/, '$1:');
    return edited === own ? [] : [{ edited: lines.with(line, edited) }];
  },
  order: (lines, line, { after }) =>
    after === undefined
      ? []
      : [{ other: after, edited: lines.with(line, lines[after] ?? '').with(after, lines[line] ?? '') }],
  stray: (lines, line) => [{ edited: lines.with(line, '') }],
  // The line is in the place of a key, whose entries follow.
  key: (lines, line, near) =>
    [indentOf(lines[line]), ...columnsNear(lines, line, near).map(([column]) => column)]
      .filter((column) => column < indentOf(lines[near.after ?? line]))
      .map((column) => ({ edited: lines.with(line, moved('key:', column)) })),
};

/** The columns at which a line could begin, each with a line that begins there. */
function columnsNear(
  lines: readonly string[],
  line: number,
  { before, after, error }: Near,
): readonly (readonly [number, number])[] {
  const above = before === undefined ? [] : [before, ...sectionsAround(lines, before).toReversed()];
  const others = [...above, ...(after === undefined ? [] : [after]), error];
  const columns = new Map(others.map((at) => [indentOf(lines[at]), at] as const).reverse());
  if (before !== undefined && isSection(lines[before])) columns.set(indentOf(lines[before]) + usualStep(lines), before);
  columns.delete(indentOf(lines[line]));
  return [...columns].reverse();
}

function* changes(lines: readonly string[], tried: readonly number[], error: number): Iterable<LineChange> {
  const code = [...lines.keys()].filter((at) => isCode(lines[at]));
  const step = usualStep(lines);
  for (const kind of Object.keys(ways) as readonly LineChange['kind'][]) {
    const ofKind = (kind === 'column' ? tried : tried.slice(0, nearest)).flatMap((line): readonly LineChange[] => {
      const at = code.indexOf(line);
      const near = { error, ...given({ before: code[at - 1], after: code[at + 1] }) };
      return ways[kind](lines, line, near).map((change) => ({ kind, line, column: indentOf(lines[line]), ...change }));
    });
    const isLikely = ({ line, edited }: LineChange): boolean =>
      kind === 'column' ? stepAt(edited, line) === step : indentOf(edited[line]) === indentOf(lines[line]);
    yield* [...ofKind.filter(isLikely), ...ofKind.filter((one) => !isLikely(one))];
  }
}

/** The columns by which a line begins further right than its section. */
const stepAt = (lines: readonly string[], line: number): number =>
  indentOf(lines[line]) - indentOf(lines[sectionsAround(lines, line).at(-1) ?? line]);

/** The columns by which lines most often begin further right than the line above; two, unless others are clearly more. */
function usualStep(lines: readonly string[]): number {
  const columns = lines.filter(isCode).map(indentOf);
  const steps = columns.map((column, at) => column - (columns[at - 1] ?? 0)).filter((step) => step > 0);
  return tally([2, 2, ...steps]).reduce((most, one) => (one[1] > most[1] ? one : most))[0];
}

/** What is wrong with a line, and how to repair it. */
export function repairWords({ kind, line, column, other, edited }: Repair): {
  readonly detail: string;
  readonly hint: string;
} {
  const right = indentOf(edited[line]) + 1;
  const place = `line ${(other ?? 0) + 1}`;
  switch (kind) {
    case 'column':
      if (indentOf(edited[other ?? line]) + 1 !== right) {
        return {
          detail: `This line begins at column ${column + 1}, but it belongs under ${place}.`,
          hint: `Begin it at column ${right}.`,
        };
      }
      return {
        detail: `This line begins at column ${column + 1}, but ${place} begins at column ${right}.`,
        hint: `Begin it at column ${right} like ${place}.`,
      };
    case 'dash':
      return { detail: `This line has no dash, but ${place} is an entry of a list.`, hint: 'Write a dash before it.' };
    case 'colon':
      return { detail: 'There is no colon after the key.', hint: 'Write a colon and a space after the first word.' };
    case 'order':
      return { detail: `This line and ${place} are in the wrong order.`, hint: 'Swap the two lines.' };
    case 'key':
      return {
        detail: 'The lines below are entries of a key, but this line is in its place.',
        hint: 'Write the key of these entries, and move this line to its section.',
      };
    case 'stray':
      return {
        detail: 'This line fits neither the line above it nor the line below it.',
        hint: 'Move it to its section, or remove it.',
      };
  }
}
