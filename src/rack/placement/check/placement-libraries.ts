import { type LibrarySight, sameLibraries } from '../../../drivers/contract/checks.ts';
import { driverOf } from '../../../drivers/registry.ts';
import type { DesiredPlacement } from '../../../model/desired.ts';
import { known, unknown } from '../../../model/known.ts';
import type { Step } from '../../../model/step.ts';
import { type Addressed, addressed } from '../../../model/subject.ts';
import type { Sight, View } from '../../resource.ts';
import { type MeshWork, meshStep } from '../members.ts';
import { checkedMac } from '../state/seen-names.ts';

/** What is there cannot become another one by waiting: only looks that came too early are made again. */
const lookDeadlineMs = 5_000;

const librariesAddress = (placement: string): Addressed => addressed({ kind: 'libraries', placement });

/** What the members of a placement have installed; undefined where nothing was made on its nodes, or it has only one. */
function seenLibraries({ nodes, runtime }: DesiredPlacement, view: View): LibrarySight | undefined {
  const found = view.desired.runtimes.find(({ name }) => name === runtime);
  if (nodes.length === 1 || found === undefined || driverOf(found).isMadeOnNodes === undefined) return undefined;
  const members = nodes.map((node) => ({ node, mac: checkedMac(view.observation.nodes[node]?.facts) }));
  return sameLibraries(found, members);
}

/** Whether the members of each placement have installed the same libraries, for gates of starts. */
export const librarySights = (view: View): readonly Sight[] =>
  view.desired.placements.flatMap((placement): readonly Sight[] => {
    const seen = seenLibraries(placement, view);
    const [leader] = placement.nodes;
    if (seen === undefined || leader === undefined) return [];
    return [{ node: leader, ...librariesAddress(placement.name), observed: observedIn(seen) }];
  });

function observedIn({ without, unwritten, differences }: LibrarySight): Sight['observed'] {
  if (differences.length > 0) return known(differences.join('; '));
  const blind = [...without, ...unwritten];
  if (blind.length === 0) return known('equal');
  return unknown('not-asked', `It is not known what is installed on ${blind.join(' and ')}.`);
}

/**
 * Where members install a runtime in the same run, they are compared before anything that serves is stopped; where all
 * of them have it already, a blocker would stand in the plan.
 */
export function librariesGate(
  placement: DesiredPlacement,
  work: MeshWork,
  needs: readonly Step[],
  view: View,
): readonly Step[] {
  const [leader] = placement.nodes;
  const seen = seenLibraries(placement, view);
  if (leader === undefined || seen === undefined || seen.without.length === 0) return [];
  const expect = [{ node: leader, ...librariesAddress(placement.name), value: 'equal' }];
  return [
    meshStep(work, {
      node: leader,
      verb: 'libraries',
      act: { kind: 'gate', expect, aborts: [] },
      needs,
      deadlineMs: lookDeadlineMs,
    }),
  ];
}
