import { endPlacement, removeRanks } from '../mesh/leftovers.ts';
import { type MeshWork, placementAddress } from '../mesh/mesh-step.ts';
import { ranksToRestart, restartRanks } from '../mesh/restart-rank.ts';
import { putService, putServices, startMesh } from '../mesh/start-mesh.ts';
import { orderlyGraceMs, rescueMesh, seenMembers, stoppedGate, stopRanks } from '../mesh/stop-mesh.ts';
import type { NodeName } from '../model/node.ts';
import type { Change, Step } from '../model/step.ts';
import { type Configured, configurePlacement } from '../runtimes/configure-placement.ts';
import type { RuntimeDriver } from '../runtimes/driver.ts';
import { drivers } from '../runtimes/registry.ts';
import { orphans, type PlacementCase, placementCases } from './placement-cases.ts';
import { leftoverAddress, serviceFileAddress } from './placement-properties.ts';
import { propertyKey } from './property-key.ts';
import type { ResourceSteps, View } from './resource.ts';

/** What becomes of one placement: steps that end something, and those that start it, once more is known to have ended. */
interface Ways {
  readonly ending: readonly Step[];
  /** @param stops what must not run any more on the nodes of the placement */
  readonly starting?: (stops: readonly Step[]) => readonly Step[];
  readonly rescue?: ResourceSteps['rescues'][number];
}

/**
 * The steps of all placements that change. Nothing is made ready on a node as long as anything is still to be stopped
 * there, whatever placement it belongs to: two of them may not fit into its memory.
 */
export function placementSteps(changes: readonly Change[], view: View): ResourceSteps {
  const ids = new Set(changes.map(({ id }) => id));
  const changed = placementCases(view).filter((one) => ids.has(changeId(one)));
  const ways = changed.map((one) => waysOf(one, view));
  const ending = [...orphanSteps(ids, view), ...ways.flatMap((one) => one.ending)];
  const stops = ending.filter(({ act }) => act.kind === 'script' && act.name === 'stop-rank');
  return {
    steps: [...ending, ...ways.flatMap((one) => one.starting?.(stops) ?? []), ...serviceFileSteps(ids, view)],
    rescues: ways.flatMap(({ rescue }) => rescue ?? []),
  };
}

const changeId = ({ leader, placement: { name } }: PlacementCase): string =>
  propertyKey({ node: leader, address: placementAddress(name) });

function waysOf(one: PlacementCase, view: View): Ways {
  const { placement, mesh } = one;
  const runtime = view.desired.runtimes.find(({ name }) => name === placement.runtime);
  if (placement.state === 'stopped') return { ending: stopWays(one) };
  if (mesh.state === 'serving') return { ending: tidyWays(one) };
  if (runtime === undefined || one.configuration.kind === 'incomplete') return { ending: [] };
  const driver = drivers[runtime.driver];
  const dead = driver.canRestartOne(runtime) ? ranksToRestart(mesh, one.configuration) : [];
  const work: MeshWork = { ...workOf(one), group: placement.name };
  const rescue = { group: placement.name, steps: rescueMesh(work) };
  if (dead.length > 0 && one.strangers.length === 0) {
    const { digest, ranks } = one.configuration;
    return {
      ending: [],
      starting: () => restartRanks({ ...startOf(one, work), digest, ranks }, dead),
      rescue,
    };
  }
  const next = configurePlacement(placement, view.desired, mesh.generation + 1);
  if (next.kind === 'incomplete') return { ending: [] };
  return { ...startWays(one, next, driver.startOrder(runtime)), rescue };
}

const workOf = (one: PlacementCase): MeshWork => ({
  placement: one.placement.name,
  nodes: one.placement.nodes,
  changes: [changeId(one)],
});

/** What every start of a placement has in common. */
const startOf = ({ placement: { transport, firstTokenMs } }: PlacementCase, work: MeshWork) => ({
  work,
  transport,
  firstTokenMs,
});

/** Stops all of it, strangers too, and takes away what strangers keep; the files of members stay. */
function stopWays(one: PlacementCase): readonly Step[] {
  const { mesh, strangers, leader } = one;
  const work = workOf(one);
  const members = [...seenMembers(mesh.members), ...strangers];
  const stops = stopRanks(() => work, members, { isAnswering: mesh.isAnswering, seconds: 0, needs: [] });
  const gates = stops.length === 0 ? [] : [stoppedGate(work, leader, stops)];
  return [...stops, ...gates, ...removeRanks(() => work, strangers, [...stops, ...gates])];
}

/** Takes away what the nodes of old keep while the placement serves elsewhere. */
function tidyWays(one: PlacementCase): readonly Step[] {
  const work = workOf(one);
  const isAnswering = one.strangers.some(({ seen: { record } }) => record?.token.kind === 'answered');
  const stops = stopRanks(() => work, one.strangers, { isAnswering, seconds: 0, needs: [] });
  return [...stops, ...removeRanks(() => work, one.strangers, stops)];
}

/** Everything is brought before anything is stopped; everything is stopped before anything is made ready. */
function startWays(one: PlacementCase, next: Configured, order: ReturnType<RuntimeDriver['startOrder']>): Ways {
  const { placement, mesh, strangers } = one;
  const work: MeshWork = { ...workOf(one), group: placement.name };
  const puts = putServices(work, next.ranks);
  const members = [...seenMembers(mesh.members), ...strangers];
  const seconds = Math.ceil((orderlyGraceMs + placement.firstTokenMs) / 1_000);
  const stops = stopRanks(() => work, members, { isAnswering: mesh.isAnswering, seconds, needs: puts });
  const removals = removeRanks(() => workOf(one), strangers, stops.length === 0 ? puts : stops);
  const isNear = ({ node }: Step): boolean => placement.nodes.includes(node);
  return {
    ending: [...puts, ...stops, ...removals],
    starting: (others) => {
      const needs = [...(stops.length === 0 ? puts : stops), ...others.filter(isNear)];
      return startMesh({ ...startOf(one, work), digest: next.digest, ranks: next.ranks }, order, needs);
    },
  };
}

function orphanSteps(ids: ReadonlySet<string>, view: View): readonly Step[] {
  const changeOn = (node: NodeName): string => propertyKey({ node, address: leftoverAddress });
  const found = orphans(view).filter(({ node }) => ids.has(changeOn(node)));
  const names = [...new Set(found.map(({ placement }) => placement))].toSorted();
  return names.flatMap((placement) =>
    endPlacement(
      (node) => ({ placement, nodes: [node], changes: [changeOn(node)] }),
      found.filter((one) => one.placement === placement),
    ),
  );
}

function serviceFileSteps(ids: ReadonlySet<string>, view: View): readonly Step[] {
  return placementCases(view).flatMap(({ placement: { name }, configuration }) =>
    configuration.kind === 'incomplete'
      ? []
      : configuration.ranks.flatMap((rank): readonly Step[] => {
          const { node } = rank;
          const id = propertyKey({ node, address: serviceFileAddress(name) });
          if (!ids.has(id)) return [];
          const put = putService({ placement: name, nodes: [node], changes: [id] }, rank);
          return [{ ...put, establishes: [{ node, address: serviceFileAddress(name), value: 'intact' }] }];
        }),
  );
}
