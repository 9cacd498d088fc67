import type { DesiredPlacement, DesiredRuntime } from '../../model/desired.ts';
import { shortDigest } from '../../model/digest.ts';
import type { KeptTree } from '../../model/facts/fact-values.ts';
import type { NodeName } from '../../model/node.ts';
import { type Prose, prose } from '../../model/text/prose.ts';
import type { CheckedMac, PlacementFinding } from './driver.ts';

/** What keeps a placement from being started. */
export const refused = (code: PlacementFinding['code'], detail: string): PlacementFinding => ({
  code,
  severity: 'error',
  detail,
});

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

/** Words with one thing to use instead. */
export const reserve = (use: Prose, ...words: readonly string[]): readonly ReservedWord[] =>
  words.map((word) => ({ word, use }));

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

/** What the members of a placement have of a runtime that each of them made by itself. */
export interface LibrarySight {
  /** Members that do not have this version whole, or of which nobody could see it. */
  readonly without: readonly NodeName[];
  /** Members that have it, and nothing that says what came out when they made it. */
  readonly unwritten: readonly NodeName[];
  /** What is not the same, in words; empty where all that is known is equal. */
  readonly differences: readonly string[];
}

type Written = readonly [NodeName, Readonly<Record<string, string>>];

/** Compares what came out on each member, as the seals of their trees have it. */
export function sameLibraries(
  { name, digest }: Pick<DesiredRuntime, 'name' | 'digest'>,
  members: readonly { readonly node: NodeName; readonly mac?: Pick<CheckedMac, 'trees'> | undefined }[],
): LibrarySight {
  const seen = members.map(({ node, mac }) => {
    const trees = mac?.trees.kind === 'known' ? mac.trees.value : [];
    return { node, tree: trees.find((tree) => digest !== undefined && isMade(tree, name, shortDigest(digest))) };
  });
  const written = seen.flatMap(({ node, tree }): readonly Written[] =>
    tree?.libraries?.['packages'] === undefined ? [] : [[node, tree.libraries]],
  );
  return {
    without: seen.flatMap(({ node, tree }) => (tree === undefined ? [node] : [])),
    unwritten: seen.flatMap(({ node, tree }) =>
      tree !== undefined && tree.libraries?.['packages'] === undefined ? [node] : [],
    ),
    differences: differencesIn(written),
  };
}

const isMade = (tree: KeptTree, name: string, digest: string): boolean =>
  tree.kind === 'runtime' && tree.name === name && tree.digest === digest && tree.state === 'intact';

/** The libraries that differ by their names; the packages as a whole only where no library does. */
function differencesIn(written: readonly Written[]): readonly string[] {
  const names = [...new Set(written.flatMap(([, libraries]) => Object.keys(libraries)))].toSorted();
  const odd = names.filter((name) => new Set(written.map(([, libraries]) => libraries[name])).size > 1);
  const named = odd.filter((name) => name !== 'packages');
  return (named.length === 0 ? odd : named).map((name) => `${wordsOf(name)} ${valuesOf(name, written)}`);
}

/** `mlx.lib.libmlx.dylib`, as the seal has it. */
function wordsOf(name: string): string {
  if (name === 'python') return 'Python is';
  return name === 'packages' ? 'the installed packages are' : `${name.replace(/^library\./, '')} is`;
}

/** `0123456789abcdef on studio-1 and studio-2, fedcba9876543210 on studio-3`. */
function valuesOf(name: string, written: readonly Written[]): string {
  const values = [...new Set(written.map(([, libraries]) => libraries[name]))];
  return values
    .map((value) => {
      const nodes = written.filter(([, libraries]) => libraries[name] === value).map(([node]) => node);
      return `${shown(value)} on ${nodes.join(' and ')}`;
    })
    .join(', ');
}

function shown(value: string | undefined): string {
  if (value === undefined) return 'missing';
  return /^[0-9a-f]{64}$/.test(value) ? value.slice(0, 16) : value;
}
