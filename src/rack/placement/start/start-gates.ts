import { sameLibraries } from '../../../drivers/contract/checks.ts';
import type { DesiredPlacement } from '../../../model/desired.ts';
import { known, unknown } from '../../../model/known.ts';
import type { Step } from '../../../model/step.ts';
import { type Addressed, addressed } from '../../../model/subject.ts';
import type { Reading, View } from '../../resource.ts';
import { neededGids, type SeenNeed } from '../check/gid-index.ts';
import { type MeshWork, meshStep } from '../mesh/rank-states.ts';
import type { PlacementCase } from '../state/placement-cases.ts';
import { checkedMac } from '../state/seen-names.ts';

/** What ranks need and what an earlier step of the same run may make, so that a plan cannot judge it. */
interface StartNeed {
  readonly kind: 'libraries' | 'gid-index';
  /** The text of {@link SeenNeed.seen} with which the ranks can start. */
  readonly value: string;
  /** Undefined if the placement does not need it. */
  readonly needOf: (placement: DesiredPlacement, view: View) => SeenNeed | undefined;
}

/** All nodes must have the same libraries. One node, or a runtime that is not built on its nodes, needs no comparison. */
function seenLibraries({ nodes, runtime }: DesiredPlacement, view: View): SeenNeed | undefined {
  const found = view.desired.runtimes.find(({ name }) => name === runtime);
  if (nodes.length === 1 || found === undefined || found.python === undefined) return undefined;
  const macs = nodes.map((node) => ({ node, mac: checkedMac(view.observation.nodes[node]?.facts) }));
  const { without, unwritten, differences } = sameLibraries(found, macs);
  const blind = [...without, ...unwritten];
  const unseen = `Could not check which libraries are installed on ${blind.join(' and ')}.`;
  const judged = blind.length === 0 ? known('equal') : unknown('not-asked', unseen);
  return { isMade: without.length > 0, seen: differences.length > 0 ? known(differences.join('; ')) : judged };
}

function seenGids(placement: DesiredPlacement, { desired, observation }: View): SeenNeed | undefined {
  const nodes = placement.nodes.flatMap((node) => observation.nodes[node] ?? []);
  return neededGids(placement, desired, nodes);
}

const needs: readonly StartNeed[] = [
  { kind: 'libraries', value: 'equal', needOf: seenLibraries },
  { kind: 'gid-index', value: 'usable', needOf: seenGids },
];

const addressOf = (kind: StartNeed['kind'], placement: string): Addressed => addressed({ kind, placement });

export function* startReadings(view: View): Iterable<Reading> {
  for (const { kind, needOf } of needs) {
    for (const placement of view.desired.placements) {
      const need = needOf(placement, view);
      const [node] = placement.nodes;
      if (need !== undefined && node !== undefined) {
        yield { node, ...addressOf(kind, placement.name), observed: need.seen };
      }
    }
  }
}

/** Waiting changes neither libraries nor GIDs; a gate only repeats observations that came too early. */
const checkDeadlineMs = 5_000;

/** Checks what this run has made, before anything that serves is stopped. The plan has judged the rest. */
export const startGates = (
  work: MeshWork,
  { placement, leader: node }: PlacementCase,
  after: readonly Step[],
  view: View,
): readonly Step[] =>
  needs
    .filter(({ needOf }) => needOf(placement, view)?.isMade === true)
    .map(({ kind, value }) =>
      meshStep(work, {
        node,
        verb: kind,
        act: { kind: 'gate', expect: [{ node, ...addressOf(kind, placement.name), value }], aborts: [] },
        needs: after,
        deadlineMs: checkDeadlineMs,
      }),
    );
