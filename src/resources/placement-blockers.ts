import { placementAddress } from '../mesh/mesh-step.ts';
import { spentNodes } from '../mesh/spent-nodes.ts';
import { judgeProperty } from './change.ts';
import { type PlacementCase, placementCases } from './placement-cases.ts';
import { placementProperty } from './placement-properties.ts';
import type { Blocker, View } from './resource.ts';

/** A placement over RDMA that would have to be started on a Mac whose budget of this boot session is spent. */
export const placementBlockers = (view: View): readonly Blocker[] => placementCases(view).flatMap(budgetBlockers);

function budgetBlockers(one: PlacementCase): readonly Blocker[] {
  const { placement, mesh } = one;
  const isToStart = placement.state === 'serving' && placement.transport === 'rdma' && mesh.state !== 'serving';
  if (!isToStart || judgeProperty(placementProperty(one)) !== 'differs') return [];
  const spent = spentNodes(mesh.members);
  if (spent.kind === 'unknown') return [];
  return spent.value.map((node) => ({
    code: 'mesh/launch-budget',
    node,
    resource: 'placement',
    address: placementAddress(placement.name),
    action: `${startsOn(one, node)} over RDMA here since the last boot: meshwright reboot ${spent.value.join(' ')}`,
    isHands: false,
    peers: placement.nodes.filter((other) => other !== node),
    blocks: [],
  }));
}

/** `3 of 3 starts`: what a node has seen, of what it may see. */
function startsOn({ mesh }: PlacementCase, node: string): string {
  const seen = mesh.members.find((member) => member.node === node)?.seen;
  const budget = seen?.kind === 'known' ? seen.value.budget : undefined;
  return budget?.kind === 'known' ? `${budget.value.starts} of ${budget.value.limit} starts` : 'all starts';
}
