import { escapeText } from '../../diagnostics/escape.ts';
import { type Digest, shortDigest } from '../../model/digest.ts';
import type { Facts, ObservedTree } from '../../model/facts/fact-values.ts';
import { type Known, mapKnown } from '../../model/known.ts';
import type { TreeId } from '../../model/node-script.ts';
import { type Addressed, addressed } from '../../model/subject.ts';
import { dayOf } from '../../model/text/units.ts';
import { read } from '../fact.ts';
import { treesFact } from './trees-fact.ts';

/** A tree whose digest the planner must know. @throws Error if the fleet is not settled, which is a bug. */
export function treeOf(kind: TreeId['kind'], name: string, wanted: Digest | undefined): TreeId {
  if (wanted === undefined) throw new Error(`the digest of ${kind} ${name} is not settled`);
  return { kind, name, digest: wanted };
}

/** The published trees with one name on a node. */
export const treesOf = (
  { facts }: { readonly facts: Facts },
  { kind, name }: Pick<TreeId, 'kind' | 'name'>,
): Known<readonly ObservedTree[]> =>
  mapKnown(read(facts, treesFact), (all) =>
    all.filter((one) => one.kind === kind && one.name === name && one.state !== 'staged'),
  );

export const treeAddress = (kind: TreeId['kind'], name: string): Addressed => addressed({ kind, name });

/** `wrong contents in a.bin (found on 2026-11-20)`; undefined if nothing was hashed and found wrong. */
export function wrongText({ wrongFiles, foundAtEpochSeconds: at }: ObservedTree): string | undefined {
  if (wrongFiles === undefined) return undefined;
  const [first = '', ...more] = wrongFiles;
  const files = more.length === 0 ? first : `${first} and ${more.length} more`;
  const found = at === undefined ? '' : ` (found on ${dayOf(at * 1_000)})`;
  return `wrong contents in ${escapeText(files)}${found}`;
}

export const isIntact = (trees: readonly ObservedTree[], { digest }: TreeId): boolean =>
  trees.some((one) => one.digest === shortDigest(digest) && one.state === 'intact');
