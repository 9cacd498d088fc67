import { judgeMesh, type Mesh } from '../mesh/judge-mesh.ts';
import { type Leftover, leftoversOn } from '../mesh/leftovers.ts';
import type { DesiredFleet, DesiredPlacement } from '../model/desired.ts';
import type { NodeName } from '../model/node.ts';
import { type Configuration, configurePlacement } from '../runtimes/configure-placement.ts';
import type { View } from './resource.ts';

/** A placement of the file beside what its nodes show. */
export interface PlacementCase {
  readonly placement: DesiredPlacement;
  readonly leader: NodeName;
  readonly mesh: Mesh;
  /** As the file wants it, in the generation that the nodes show. */
  readonly configuration: Configuration;
  /** Members on targets where the file does not have it any more. */
  readonly strangers: readonly Leftover[];
}

/**
 * Every placement of the file that this run can judge. One with members outside of the run that nobody looked at is
 * left alone.
 */
export function placementCases(view: View): readonly PlacementCase[] {
  const strangers = allLeftovers(view);
  return view.desired.placements.flatMap((placement): readonly PlacementCase[] => {
    const [leader] = placement.nodes;
    if (leader === undefined) return [];
    const one = caseOf(view, placement, leader, strangers);
    const isWhole = placement.nodes.every((node) => view.asked.includes(node));
    return isWhole || one.mesh.state !== 'unknown' ? [one] : [];
  });
}

function caseOf(
  { desired, observation }: View,
  placement: DesiredPlacement,
  leader: NodeName,
  leftovers: readonly Leftover[],
): PlacementCase {
  const { name, nodes } = placement;
  const planned = configurePlacement(placement, desired, 0);
  const digest = planned.kind === 'configured' ? planned.digest : '';
  const mesh = judgeMesh({ placement: name, nodes, digest }, observation.nodes);
  const configuration = configurePlacement(placement, desired, mesh.generation);
  return { placement, leader, mesh, configuration, strangers: leftovers.filter((one) => one.placement === name) };
}

const allLeftovers = (view: View): readonly Leftover[] =>
  view.targets.flatMap(({ desired: { name }, facts }) => {
    const found = leftoversOn(name, facts, wantedOn(view.desired, name));
    return found.kind === 'known' ? found.value : [];
  });

/** Names of the placements that the file puts on a node. */
const wantedOn = ({ placements }: DesiredFleet, node: NodeName): readonly string[] =>
  placements.filter(({ nodes }) => nodes.includes(node)).map(({ name }) => name);

/** What is left over on each target of placements that the file does not have at all. */
export const orphans = (view: View): readonly Leftover[] =>
  allLeftovers(view).filter(({ placement }) => !view.desired.placements.some(({ name }) => name === placement));
