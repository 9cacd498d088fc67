import type { DesiredPlacement } from '../../../model/desired.ts';
import type { NodeObservation } from '../../../model/facts/fact-values.ts';
import type { NodeName } from '../../../model/node.ts';
import { read } from '../../fact.ts';
import { placementsFact } from '../observed/fact.ts';
import { isRunning, seeMember } from './member.ts';

/** A placement with the nodes on which ranks of it have a process, as far as anybody can say. */
export interface RunningPlacement {
  readonly name: string;
  readonly nodes: readonly NodeName[];
  /** Whether some of these nodes count only because nobody could see what runs there. */
  readonly isGuess: boolean;
}

type Placed = Pick<DesiredPlacement, 'name' | 'nodes'>;

/** Placements that the nodes keep and the file does not have any more. */
function strangers(placed: readonly Placed[], nodes: readonly NodeObservation[]): readonly Placed[] {
  const named = nodes.flatMap(({ facts }) => {
    const placements = read(facts, placementsFact);
    return placements.kind === 'known' ? placements.value : [];
  });
  const names = new Set(
    named.map(({ placement }) => placement).filter((name) => placed.every((one) => one.name !== name)),
  );
  return [...names].toSorted().map((name) => ({ name, nodes: [] }));
}

/**
 * What runs where, whatever the file wants. A member that should be on a node of which nobody knows what runs there
 * counts as running: unknown is never no.
 */
export function runningPlacements(
  placed: readonly Placed[],
  observed: Readonly<Record<string, NodeObservation>>,
): readonly RunningPlacement[] {
  const nodes = Object.values(observed);
  return [...placed, ...strangers(placed, nodes)].flatMap((placement): readonly RunningPlacement[] => {
    const members = nodes.map(({ node, facts }) => seeMember(node, placement.name, facts));
    const sure = members.filter(({ seen }) => seen.kind === 'known' && isRunning(seen.value)).map(({ node }) => node);
    const guessed = members
      .filter(({ node, seen }) => seen.kind === 'unknown' && placement.nodes.includes(node))
      .map(({ node }) => node);
    return sure.length + guessed.length === 0
      ? []
      : [{ name: placement.name, nodes: [...sure, ...guessed], isGuess: guessed.length > 0 }];
  });
}
