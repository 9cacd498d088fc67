import { everyNode } from '../desired/fallback.ts';
import type { DesiredFleet, DesiredNode, DesiredPlacement } from '../model/desired.ts';
import { usageError } from './options.ts';
import { placementNamed } from './placements.ts';

/** The fleet as it may run: before anybody has looked, a rank may be on any node of either layout. */
export const mayRunAnywhere = (fleet: DesiredFleet): DesiredFleet => ({
  ...fleet,
  placements: fleet.placements.map((one) => ({ ...one, nodes: everyNode(one) })),
});

/** The ranks of one placement that are meant. */
export interface WantedRanks {
  readonly placement: string;
  readonly nodes: readonly DesiredNode[];
}

/**
 * The ranks that words name, by placement in the order of the file: a placement with all its members, or a node with all
 * that runs there.
 * @throws FleetError `cli/usage` when nothing is named or nothing is placed there, `select/unknown-placement`
 */
export function wantedRanks(words: readonly string[], fleet: DesiredFleet): readonly WantedRanks[] {
  if (words.length === 0) {
    const names = [...fleet.placements, ...fleet.nodes].map(({ name }) => name);
    throw usageError('Nothing is named.', `Name placements or nodes: ${names.join(', ')}`);
  }
  const pairs = words.flatMap((word) => ranksOf(word, fleet));
  return fleet.placements.flatMap(({ name }) => {
    const members = pairs.filter(({ placement }) => placement === name).map(({ node }) => node);
    const nodes = fleet.nodes.filter((node) => members.includes(node.name));
    return nodes.length === 0 ? [] : [{ placement: name, nodes }];
  });
}

function ranksOf(word: string, fleet: DesiredFleet): readonly { readonly placement: string; readonly node: string }[] {
  const on = (one: DesiredPlacement, isMeant: (node: string) => boolean) =>
    one.nodes.filter(isMeant).map((node) => ({ placement: one.name, node }));
  const isPlacement = fleet.placements.some(({ name }) => name === word);
  const isNode = fleet.nodes.some(({ name }) => name === word);
  if (isPlacement || !isNode) return on(placementNamed(fleet, word), () => true);
  const ranks = fleet.placements.flatMap((one) => on(one, (node) => node === word));
  if (ranks.length === 0) throw usageError(`Nothing is placed on ${word}.`, 'Name a placement, or another node.');
  return ranks;
}
