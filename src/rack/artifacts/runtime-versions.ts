import type { KeptTree } from '../../model/facts/fact-values.ts';
import { compareText } from '../../model/lists.ts';

/**
 * The versions of one runtime that nobody needs any more: all but the current one, the wanted one, and one older.
 * While the wanted one is not current yet the current one is the older one that stays, so that going back is always
 * possible.
 * @param wanted the first 16 digits of the wanted version; undefined when the node is to have none
 * @returns their digits, sorted
 */
export function surplusVersions(versions: readonly KeptTree[], wanted: string | undefined): readonly string[] {
  const current = versions.find(({ isCurrent }) => isCurrent)?.digest;
  const others = versions
    .map(({ digest }) => digest)
    .filter((digest) => digest !== current && digest !== wanted)
    .toSorted(compareText);
  // Nothing says which one was the last: of what is left over besides the current one any may stay.
  const isOlderKept = current !== undefined && current !== wanted;
  return isOlderKept ? others : others.slice(1);
}
