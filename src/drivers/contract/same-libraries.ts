import type { DesiredRuntime } from '../../model/desired.ts';
import { shortDigest } from '../../model/digest.ts';
import type { KeptTree } from '../../model/facts/fact-values.ts';
import type { NodeName } from '../../model/node.ts';
import type { CheckedMac } from './placement-check.ts';

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
