import { layoutsOf, onFallback } from '../../../desired/layouts.ts';
import { type Configuration, configurePlacement } from '../../../drivers/configure-placement.ts';
import type { RuntimeDriver } from '../../../drivers/contract/driver.ts';
import { driverOf } from '../../../drivers/registry.ts';
import type { DesiredModel, DesiredPlacement, DesiredRuntime } from '../../../model/desired.ts';
import { given } from '../../../model/given.ts';
import { seenValue } from '../../../model/known.ts';
import { oncePer } from '../../../model/lists.ts';
import type { NodeName } from '../../../model/node.ts';
import type { NodePath } from '../../../model/probe.ts';
import { treeFolder } from '../../../node/paths/own-paths.ts';
import { restartedNodes, returningPlacements } from '../../goal.ts';
import { holdsOf } from '../../hold/reading.ts';
import type { View } from '../../resource.ts';
import { type LeftGateway, leftGateways } from '../endpoint/seen-gateways.ts';
import type { GatewayOnNode } from '../mesh/gateway-steps.ts';
import { seenRanks } from '../mesh/rank-states.ts';
import { type Mesh, readMesh } from '../mesh/read-mesh.ts';
import { type OrphanedRank, orphanedRanksOn } from '../mesh/stop-mesh.ts';
import { fallbackUnseen, ownRanksOn, runsOnFallback } from './layouts.ts';
import { meshTable } from './mesh-reading.ts';
import { seenNames } from './seen-names.ts';

export interface PlacementCase {
  readonly placement: DesiredPlacement;
  readonly leader: NodeName;
  readonly mesh: Mesh;
  /** The configuration that the file describes, with the observed generation. */
  readonly configuration: Configuration;
  readonly runtime?: DesiredRuntime;
  readonly model?: DesiredModel;
  readonly drafter?: DesiredModel;
  readonly driver?: RuntimeDriver;
  /** Orphaned ranks on targets that the file no longer uses for it. */
  readonly orphanedRanks: readonly OrphanedRank[];
  /** Gateways on targets that the file no longer uses for it. */
  readonly leftGateways: readonly LeftGateway[];
  /** When it starts again, if stopping it would interrupt answers: after the stop, or after a Mac's restart. */
  readonly comesBack: 'no' | 'after-stop' | 'after-restart';
  readonly elsewhere?: PlacementCase;
  /** If the fallback is desired: nodes on which ranks of the placement's own layout run instead. */
  readonly ownRanks?: readonly NodeName[];
}

export const loadedBy = ({ model, drafter }: PlacementCase): readonly DesiredModel[] =>
  [model, drafter].filter((one) => one !== undefined);

/** The folders of these models on their nodes, without models whose files are not known yet. */
export const modelFolders = (one: PlacementCase): readonly NodePath[] =>
  loadedBy(one).flatMap(({ name, digest }) =>
    digest === undefined ? [] : treeFolder({ kind: 'model', name, digest }),
  );

/** Every placement that this run can check, so none with unobserved ranks outside of it. */
export const placementCases = (view: View): readonly PlacementCase[] =>
  everyCase(view).filter(({ placement, mesh }) => {
    return mesh.state !== 'unknown' || placement.nodes.every((node) => view.asked.includes(node));
  });

/** Every placement in the file, including those with unobserved ranks. */
export const everyCase = oncePer((view: View): readonly PlacementCase[] => {
  const orphanedRanks = allOrphanedRanks(view);
  return view.desired.placements.flatMap((placement): readonly PlacementCase[] => {
    const [leader] = placement.nodes;
    if (leader === undefined) return [];
    const one = { ...caseOf(view, placement, leader, orphanedRanks), ...ownRanksOf(view, placement) };
    const other = onFallback(placement);
    const [otherLeader] = other.nodes;
    const isThere = runsOnFallback(placement, view.desired, view.observation.nodes);
    if (!isThere) return [{ ...one, mesh: unlessUnseen(one.mesh, placement, view) }];
    if (otherLeader === undefined) return [one];
    return [{ ...one, elsewhere: caseOf(view, other, otherLeader, []) }];
  });
});

function ownRanksOf({ desired, observation }: View, { ownLayout }: DesiredPlacement): Pick<PlacementCase, 'ownRanks'> {
  const nodes = ownLayout === undefined ? [] : ownRanksOn(ownLayout, desired, observation.nodes);
  return nodes.length === 0 ? {} : { ownRanks: nodes };
}

/** A hung or partial mesh may be stopped even if its next start is in doubt, because nothing else helps. */
const isAtStake = ({ state, isAnswering }: Mesh): boolean =>
  isAnswering && (state === 'serving' || state === 'changed');

/** The places that one start takes in each RDMA device of a node, whatever name macOS gives the device. */
export const takesOfDevice = ({ configuration }: Pick<PlacementCase, 'configuration'>): number =>
  configuration.kind === 'incomplete' ? 1 : Math.max(1, ...configuration.ranks.map((one) => one.takesOfDevice ?? 1));

/** True if no rank runs; a reboot may load its services again without starting them. */
export const isIdle = ({ seen }: Pick<Mesh, 'seen'>): boolean => meshTable[seen].stopped === 'keep';

export const meshChange = ({ mesh: { seen }, placement: { state } }: Pick<PlacementCase, 'mesh' | 'placement'>) =>
  meshTable[seen][state];

/** The mesh on its own nodes; `unknown` while it may run on its fallback. Unwanted ranks are stopped in any case. */
function unlessUnseen(mesh: Mesh, placement: DesiredPlacement, { desired, observation }: View): Mesh {
  const isStopWithWork = placement.state === 'stopped' && !isIdle(mesh);
  if (mesh.state === 'unknown' || isStopWithWork) return mesh;
  const unseen = fallbackUnseen(placement, desired, observation.nodes);
  if (unseen === undefined) return mesh;
  return { ...mesh, seen: 'rank-unobserved', state: 'unknown', evidence: unseen.detail, reason: unseen.reason };
}

/** True if a rank's node is on hold, where ranks remain untouched: a fallback replaces nodes out of service. */
function isLeftAlone({ desired, observation }: View, { ownLayout }: DesiredPlacement, { node }: OrphanedRank): boolean {
  const wanted = desired.nodes.find(({ name }) => name === node);
  if (ownLayout === undefined || wanted === undefined) return false;
  return holdsOf(wanted, observation.nodes[node]?.facts).some(({ isOver }) => !isOver);
}

function caseOf(
  view: View,
  placement: DesiredPlacement,
  leader: NodeName,
  orphanedRanks: readonly OrphanedRank[],
): PlacementCase {
  const { desired, observation } = view;
  const { name, nodes, firstTokenMs } = placement;
  const names = seenNames(view);
  const { digest = '', declared } = configurePlacement(placement, desired, 0, names);
  const runtime = desired.runtimes.find((one) => one.name === placement.runtime);
  const model = desired.models.find((one) => one.name === placement.model);
  const drafter = desired.models.find((one) => one.name === placement.drafter);
  const driver = runtime && driverOf(runtime);
  const expected = given({
    declared,
    versions: desired.versions,
    talk: driver && { transport: placement.transport, driver },
  });
  const mesh = readMesh({ placement: name, nodes, digest, firstTokenMs, ...expected }, observation.nodes);
  return {
    placement,
    leader,
    mesh,
    configuration: configurePlacement(placement, desired, mesh.generation, names),
    ...given({ runtime, model, drafter, driver }),
    orphanedRanks: orphanedRanks.filter((one) => one.placement === name && !isLeftAlone(view, placement, one)),
    leftGateways: leftGateways(view).filter((one) => one.placement === name),
    comesBack: comingBack(placement, mesh, view),
  };
}

function comingBack({ name, nodes }: DesiredPlacement, mesh: Mesh, view: View): PlacementCase['comesBack'] {
  if (!returningPlacements(view.goal).includes(name) || !isAtStake(mesh)) return 'no';
  return nodes.some((node) => restartedNodes(view.goal).includes(node)) ? 'after-restart' : 'after-stop';
}

const allOrphanedRanks = (view: View): readonly OrphanedRank[] =>
  view.targets.flatMap(({ desired: { name: node }, facts }) => {
    const wanted = view.desired.placements.filter(({ nodes }) => nodes.includes(node)).map(({ name }) => name);
    return seenValue(orphanedRanksOn(node, facts, wanted)) ?? [];
  });

export const orphans = (view: View): readonly OrphanedRank[] =>
  allOrphanedRanks(view).filter(({ placement }) => !view.desired.placements.some(({ name }) => name === placement));

/**
 * The gateways that a stop or start of a placement concerns: on its leader, and on the node that leads it now if that
 * is the leader of its other layout. That node may be in both layouts with different ranks. Empty if the placement is
 * not published.
 */
export function gatewaysOf({ leader, placement, mesh, orphanedRanks }: PlacementCase): readonly GatewayOnNode[] {
  const { publication, endpointPort: port } = placement;
  if (publication === undefined) return [];
  const leaders = layoutsOf(placement).map(({ nodes: [first] }) => first);
  const former = [...seenRanks(mesh.ranks), ...orphanedRanks].filter(
    ({ node, seen }) => seen.record?.rank === 0 && seen.mayRun && leaders.includes(node),
  );
  return [...new Set([leader, ...former.map(({ node }) => node)])].map((node) => ({ leader: node, port }));
}
