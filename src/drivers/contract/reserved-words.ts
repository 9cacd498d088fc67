import type { DesiredPlacement } from '../../model/desired.ts';
import { type Prose, prose } from '../../model/text/prose.ts';
import type { PlacementFinding } from './placement-check.ts';

/** A word that a driver sets itself, and what of the file decides it. */
export interface ReservedWord {
  readonly word: string;
  /** Goes on "Use ": a key of the file, or why there is none. */
  readonly use: Prose;
  /** Goes on the word, where the driver does not set it but cannot have it: "writes prompts into the log". */
  readonly because?: string;
  /** Values with which it may stand all the same. */
  readonly unless?: readonly string[];
}

/** What a driver puts into the environment and the command line of a rank by itself. */
export interface ReservedWords {
  readonly env: readonly ReservedWord[];
  readonly args: readonly ReservedWord[];
  /**
   * `abbreviated`: the program takes the beginning of a long word for the word, and several short ones behind one dash.
   * @see Python, argparse, allow_abbrev
   */
  readonly reading: 'abbreviated' | 'whole';
}

/** Words of `env` and `args` that would get into the way of what the driver sets itself. */
export function reservedFindings(
  { env, args }: Pick<DesiredPlacement, 'env' | 'args'>,
  reserved: ReservedWords,
): readonly PlacementFinding[] {
  return [
    ...Object.keys(env)
      .flatMap((name) => reserved.env.filter(({ word }) => word === name))
      .map((one) => finding(one)),
    ...args.flatMap((arg, at) => argFindings(arg, args[at + 1], reserved)),
  ];
}

function finding({ word, use, because }: ReservedWord, name = word): PlacementFinding {
  const own = because === undefined ? `The driver sets ${word} itself.` : `${word} ${because}.`;
  const read = `${name} is read as ${word}, which ${because ?? 'the driver sets itself'}.`;
  return {
    code: 'placement/reserved-word',
    severity: 'error',
    detail: name === word ? own : read,
    hint: prose`Take it out. ${use}`,
  };
}

function argFindings(
  arg: string,
  next: string | undefined,
  { args, reading }: ReservedWords,
): readonly PlacementFinding[] {
  const [name = '', ...values] = arg.split('=');
  const value = values.length === 0 ? next : values.join('=');
  const isMeant = ({ unless }: ReservedWord): boolean => value === undefined || unless?.includes(value) !== true;
  const same = args.filter(({ word }) => word === name);
  if (same.length > 0 || reading === 'whole') return same.filter(isMeant).map((one) => finding(one));
  return args
    .filter(({ word }) => isReadAs(name, word))
    .slice(0, 1)
    .filter(isMeant)
    .map((one) => finding(one, name));
}

/** Whether argparse may take a word for another one: its beginning, or a letter among several behind one dash. */
const isReadAs = (name: string, word: string): boolean =>
  word.startsWith('--')
    ? name.length > 2 && word.startsWith(name)
    : /^-[A-Za-z]{2,}$/.test(name) && name.includes(word.slice(1));
