import type { DesiredPlacement, DesiredRuntime } from '../../model/desired.ts';
import { shortDigest } from '../../model/digest.ts';
import type { ObservedTree } from '../../model/facts/fact-values.ts';
import type { NodeName } from '../../model/node.ts';
import { type Prose, prose } from '../../model/text/prose.ts';
import type { CheckedMac, PlacementFinding } from './driver.ts';

/** An error that prevents a placement from starting. */
export const refused = (code: PlacementFinding['code'], detail: string): PlacementFinding => ({
  code,
  severity: 'error',
  detail,
});

/** A word of `env` or `args` that a user cannot set, because the driver sets it or cannot allow it. */
export interface ReservedWord {
  readonly word: string;
  /** A sentence with the alternative to use, or the reason why the word is reserved. */
  readonly use: Prose;
  /** The reason if the driver only forbids the word, to follow the word: "writes every prompt into the log". */
  readonly because?: string;
  /** Values with which the word is allowed. */
  readonly unless?: readonly string[];
}

/** Reserved words that share the same advice. */
export const reserve = (use: Prose, ...words: readonly string[]): readonly ReservedWord[] =>
  words.map((word) => ({ word, use }));

/** Words that the driver does not set, but forbids. */
export const refuse = (because: string, use: Prose, ...words: readonly string[]): readonly ReservedWord[] =>
  reserve(use, ...words).map((one) => ({ ...one, because }));

/** What to use instead of a word that the driver sets, in the words of every driver with such a word. */
export const ownModel = 'The model is set by `model`, and apply installs its files.';
export const ownFiles = 'Files that apply did not install are neither verified nor counted in the memory plan.';
export const ownPlace = 'The server listens on 127.0.0.1; set its port with `endpoint.port`.';
export const ownMemory = "The memory plan is based on the driver's value.";

export interface ReservedWords {
  readonly env: readonly ReservedWord[];
  readonly args: readonly ReservedWord[];
  /**
   * `abbreviated`: the program accepts unique beginnings of long options, and several short options after one dash.
   * @see Python, argparse, allow_abbrev
   */
  readonly reading: 'abbreviated' | 'whole';
}

/** Words of `env` and `args` that would conflict with those of the driver. */
export function reservedFindings(
  { env, args }: Pick<DesiredPlacement, 'env' | 'args'>,
  reserved: ReservedWords,
): readonly PlacementFinding[] {
  return [
    ...Object.keys(env).flatMap((name) => reserved.env.filter(({ word }) => word === name).map((one) => finding(one))),
    ...args.flatMap((arg, at) => argFindings(arg, args[at + 1], reserved)),
  ];
}

function finding({ word, use, because }: ReservedWord, name = word): PlacementFinding {
  const own = because === undefined ? `The driver sets ${word} itself.` : `${word} ${because}.`;
  const read = `The program reads ${name} as ${word}, which ${because ?? 'the driver sets itself'}.`;
  return {
    code: 'placement/reserved-word',
    severity: 'error',
    detail: name === word ? own : read,
    hint: prose`Remove it. ${use}`,
  };
}

function argFindings(
  arg: string,
  next: string | undefined,
  { args, reading }: ReservedWords,
): readonly PlacementFinding[] {
  const [name = '', ...values] = arg.split('=');
  const value = values.length === 0 ? next : values.join('=');
  const isForbidden = ({ unless }: ReservedWord): boolean => value === undefined || unless?.includes(value) !== true;
  const same = args.filter(({ word }) => word === name);
  const read = reading === 'whole' ? [] : args.filter(({ word }) => isReadAs(name, word)).slice(0, 1);
  return (same.length > 0 ? same : read).filter(isForbidden).map((one) => finding(one, name));
}

/** Whether argparse may read `name` as `word`: as its beginning, or as one of several letters after one dash. */
const isReadAs = (name: string, word: string): boolean =>
  word.startsWith('--')
    ? name.length > 2 && word.startsWith(name)
    : /^-[A-Za-z]{2,}$/.test(name) && name.includes(word.slice(1));

/** The comparison of a runtime that each rank's node built separately. */
export interface LibraryComparison {
  /** Nodes on which this version is missing, incomplete or unobserved. */
  readonly without: readonly NodeName[];
  /** Nodes with this version, but without a record of the libraries that it was built from. */
  readonly unwritten: readonly NodeName[];
  /** Sentences about different libraries; empty if all known libraries are equal. */
  readonly differences: readonly string[];
}

type Written = readonly [NodeName, Readonly<Record<string, string>>];

/** Compares the libraries that the seals of the runtime's trees record for each node. */
export function sameLibraries(
  { name, digest }: Pick<DesiredRuntime, 'name' | 'digest'>,
  members: readonly { readonly node: NodeName; readonly mac?: Pick<CheckedMac, 'trees'> | undefined }[],
): LibraryComparison {
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

const isMade = (tree: ObservedTree, name: string, digest: string): boolean =>
  tree.kind === 'runtime' && tree.name === name && tree.digest === digest && tree.state === 'intact';

/** The differing libraries by name; `packages` only if no single library differs. */
function differencesIn(written: readonly Written[]): readonly string[] {
  const names = [...new Set(written.flatMap(([, libraries]) => Object.keys(libraries)))].toSorted();
  const odd = names.filter((name) => new Set(written.map(([, libraries]) => libraries[name])).size > 1);
  const named = odd.filter((name) => name !== 'packages');
  return (named.length === 0 ? odd : named).map((name) => `${wordsOf(name)} ${valuesOf(name, written)}`);
}

/** `mlx.lib.libmlx.dylib is`, from the seal's key `library.mlx.lib.libmlx.dylib`. */
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
