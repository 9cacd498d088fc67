import { everyNode } from '../../desired/fallback.ts';
import type { DesiredFleet, DesiredNode, DesiredPlacement } from '../../model/desired.ts';
import type { NodeName } from '../../model/node.ts';
import { placementNamed } from '../cluster/placements.ts';
import { usageError } from '../verb/options.ts';

/** The fleet as it may run: before anybody has looked, a rank may be on any node of either layout. */
export const mayRunAnywhere = (fleet: DesiredFleet): DesiredFleet => ({
  ...fleet,
  placements: fleet.placements.map((one) => ({ ...one, nodes: everyNode(one) })),
});

/** The ranks of one placement that are meant. */
export interface WantedRanks {
  readonly placement: string;
  readonly nodes: readonly DesiredNode[];
  /** Those of the nodes that belong to its other layout alone: what they keep of it is of an earlier start. */
  readonly elsewhere: readonly NodeName[];
}

/**
 * The ranks that words name, by placement in the order of the file: a placement with all its members, or a node with all
 * that runs there; with nothing there, all that may run there in its other layout. Without words every placement.
 * @throws FleetError `cli/usage` when nothing is placed at all, or there, `select/unknown-placement`
 */
export function wantedRanks(words: readonly string[], fleet: DesiredFleet): readonly WantedRanks[] {
  const all = fleet.placements.map(({ name }) => name);
  if (words.length === 0 && all.length === 0) {
    throw usageError('The file has no placements.', 'Write one down, and apply it: docs/cluster-yaml.md');
  }
  const pairs = (words.length === 0 ? all : words).flatMap((word) => ranksOf(word, fleet));
  return fleet.placements.flatMap(({ name, nodes: layout }): readonly WantedRanks[] => {
    const members = pairs.filter(({ placement }) => placement === name);
    const nodes = fleet.nodes.filter((node) => members.some((one) => one.node === node.name));
    const elsewhere = nodes.map((node) => node.name).filter((node) => !layout.includes(node));
    return nodes.length === 0 ? [] : [{ placement: name, nodes, elsewhere }];
  });
}

function ranksOf(word: string, fleet: DesiredFleet): readonly { readonly placement: string; readonly node: string }[] {
  const on = (one: Pick<DesiredPlacement, 'name' | 'nodes'>, isMeant: (node: string) => boolean) =>
    one.nodes.filter(isMeant).map((node) => ({ placement: one.name, node }));
  const isPlacement = fleet.placements.some(({ name }) => name === word);
  const isNode = fleet.nodes.some(({ name }) => name === word);
  if (isPlacement || !isNode) return on(placementNamed({ fleet }, word), () => true);
  const ranksIn = ({ placements }: Pick<DesiredFleet, 'placements'>) =>
    placements.flatMap((one) => on(one, (node) => node === word));
  const here = ranksIn(fleet);
  const ranks = here.length > 0 ? here : ranksIn(mayRunAnywhere(fleet));
  if (ranks.length === 0) throw usageError(`Nothing is placed on ${word}.`, 'Name a placement, or another node.');
  return ranks;
}
