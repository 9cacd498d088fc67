import { askedPort } from '../../desired/endpoints.ts';
import { onFallback } from '../../desired/layouts.ts';
import { type Configured, configurePlacement } from '../../drivers/configure-placement.ts';
import type { StartWave } from '../../drivers/contract/driver.ts';
import { type Digest, digestOf } from '../../model/digest.ts';
import { given } from '../../model/given.ts';
import { known, mapKnown, seenValue } from '../../model/known.ts';
import { alike, compareText, groupBy } from '../../model/lists.ts';
import type { NodeName } from '../../model/node.ts';
import type { AccountCheck } from '../../model/node-script.ts';
import type { Change, Step } from '../../model/step.ts';
import { treeFolder } from '../../node/paths/own-paths.ts';
import { readValue } from '../fact.ts';
import { removesGateways, restartedNodes } from '../goal.ts';
import { macosVersionFact } from '../macos/fact.ts';
import { rdmaDevicesFact } from '../rdma/devices-fact.ts';
import { propertyKey, type Reading, type Resource, type ResourceSteps, type View } from '../resource.ts';
import { checkNotices } from './check/placement-checks.ts';
import { drafterFindings, fallbackFindings, noStartFindings, startAdvice } from './check/placement-findings.ts';
import { surveyPlacements } from './check/placement-survey.ts';
import { leftGateways } from './endpoint/seen-gateways.ts';
import { closeGateway, drainMs, type GatewayOnNode, openGateway } from './mesh/gateway-steps.ts';
import {
  type MeshWork,
  meshStep,
  placementAddress,
  rankAddress,
  rankReading,
  type SeenOnNode,
  scriptAct,
  seenRanks,
  seeRank,
  spentNodes,
} from './mesh/rank-states.ts';
import { isLate, readMesh } from './mesh/read-mesh.ts';
import {
  createInstance,
  type MeshProof,
  prepareRanks,
  putService,
  putServices,
  ranksToRestart,
  restartRanks,
  startDeadline,
  startMesh,
} from './mesh/start-mesh.ts';
import {
  endPlacement,
  mayGiveToken,
  orderlyGraceMs,
  removeRanks,
  rescueMesh,
  stoppedGate,
  stopRanks,
} from './mesh/stop-mesh.ts';
import { lastStartFindings, placementBlockers, unobservedDependencies } from './placement-blockers.ts';
import { startGates, startReadings } from './start/start-gates.ts';
import { runsOnFallback } from './state/layouts.ts';
import {
  gatewaysOf,
  loadedBy,
  meshChange,
  modelFolders,
  orphans,
  type PlacementCase,
  placementCases,
  takesOfDevice,
} from './state/placement-cases.ts';
import { orphanedRankAddress, placementProperties, serviceFileAddress } from './state/placement-properties.ts';
import { seenNames } from './state/seen-names.ts';
import { lostRanks, survivorAddress, survivorsOf, voiceOf } from './state/survivors.ts';

function* readings(view: View): Iterable<Reading> {
  for (const { desired, facts } of view.targets) {
    const node = desired.name;
    for (const { name } of view.desired.placements) {
      const observed = mapKnown(seeRank(node, name, facts).seen, (seen) => ({ ...rankReading(seen) }));
      yield { node, ...rankAddress(name), observed };
    }
  }
  yield* startReadings(view);
}

/**
 * Models that run on groups of nodes. A placement is one property of its leader's node. It matches the file if all its
 * ranks run and come from one start with the file's settings, and its endpoint returned a token.
 */
export const placement: Resource = {
  kind: 'placement',
  after: [
    'identity',
    'macos',
    'filevault',
    'sudo',
    'accounts',
    'power',
    'thunderbolt-bridge',
    'rdma',
    'thunderbolt-link',
    'link-address',
    'wired-limit',
    'runtime',
    'model',
  ],
  onUninstall: ({ nodes, placements }) => ({
    after: ['identity', 'sudo'],
    properties: (view) =>
      placementProperties(view).filter(({ node, about: { placement: name, part } }) =>
        name === undefined ? nodes.includes(node) : part === undefined && placements.includes(name),
      ),
  }),
  properties: placementProperties,
  readings,
  steps: placementSteps,
  blockers: placementBlockers,
  unobserved: unobservedDependencies,
  notices: (view) => {
    const surveys = surveyPlacements(view);
    return [
      ...checkNotices(view),
      ...lostRanks(view),
      ...fallbackFindings(view, surveys),
      ...drafterFindings(view),
      ...startAdvice(view, surveys),
      ...lastStartFindings(view),
      ...noStartFindings(view),
    ];
  },
};

/** One placement's steps: those that stop ranks, and those that start it once all stops of the plan are known. */
interface PlacementSteps {
  readonly ending: readonly Step[];
  /** @param stops all stops of the plan; those on the placement's nodes come before its start */
  readonly starting?: (stops: readonly Step[]) => readonly Step[];
  readonly rescue?: NonNullable<ResourceSteps['rescues']>[number];
}

/** The steps of all changing placements. All stop before a rank is made ready: memory may be too small for both. */
function placementSteps(changes: readonly Change[], view: View): ResourceSteps {
  const ids = new Set(changes.map(({ id }) => id));
  const changed = placementCases(view).filter((one) => ids.has(changeId(one)));
  const all = checkedFirst(changed.map((one) => stepsOf(one, view)));
  const ending = [...orphanSteps(ids, view), ...survivorSteps(ids, view), ...all.flatMap((one) => one.ending)];
  const stops = ending.filter(({ act }) => act.kind === 'script' && act.name === 'stop-rank');
  return {
    steps: [...ending, ...all.flatMap((one) => one.starting?.(stops) ?? []), ...serviceFileSteps(ids, view)],
    rescues: all.flatMap(({ rescue }) => rescue ?? []),
  };
}

const isCheck = ({ act }: Step): boolean => act.kind === 'script' && act.name === 'check-account';

function checkedFirst(all: readonly PlacementSteps[]): readonly PlacementSteps[] {
  const checks = all.flatMap(({ ending }) => ending.filter(isCheck)).map(({ id }) => id);
  return all.map((one) =>
    one.ending.some(isCheck)
      ? {
          ...one,
          ending: one.ending.map((step) =>
            isCheck(step) ? step : { ...step, needs: [...new Set([...checks, ...step.needs])] },
          ),
        }
      : one,
  );
}

const changeId = ({ leader, placement: { name } }: PlacementCase): string =>
  propertyKey({ node: leader, ...placementAddress(name) });

function stepsOf(one: PlacementCase, view: View): PlacementSteps {
  const { placement, mesh, runtime, model, driver } = one;
  const change = meshChange(one);
  if (placement.state === 'stopped') return { ending: stopSteps(one, view) };
  if (change === 'keep') return { ending: tidySteps(one) };
  if (runtime === undefined || driver === undefined || one.configuration.kind === 'incomplete') return { ending: [] };
  const dialogue = model && driver.dialogue?.(placement, runtime, model, view.desired.thunderbolt);
  if (change === 'create-instance' && dialogue !== undefined && one.orphanedRanks.length === 0) {
    const { digest, ranks } = one.configuration;
    // Without a group: if it fails, no rank is stopped, and a restart can still follow.
    const start = { ...startOf(one, workOf(one), digest, view), dialogue, ranks, watched: ranks };
    const steps = createInstance(start);
    return { ending: [], starting: () => [...steps, ...openingSteps(one, steps.slice(-1))] };
  }
  const mayComplete = change === 'complete' && driver.canRestartOne(runtime);
  const dead = mayComplete ? ranksToRestart(mesh, one.configuration) : [];
  const work: MeshWork = { ...workOf(one), group: placement.name };
  const rescue = { group: placement.name, steps: rescueMesh(work) };
  if (dead.length > 0 && one.orphanedRanks.length === 0) {
    const { digest, ranks } = one.configuration;
    return {
      ending: [],
      starting: () => {
        const steps = restartRanks({ ...startOf(one, work, digest, view), ranks }, dead);
        return [...steps, ...openingSteps(one, steps.slice(-1))];
      },
      rescue,
    };
  }
  const next = configurePlacement(placement, view.desired, mesh.generation + 1, seenNames(view));
  if (next.kind === 'incomplete') return { ending: [] };
  return { ...startSteps(one, next, driver.waves(placement, runtime), view), rescue };
}

const workOf = (one: PlacementCase): MeshWork => ({
  placement: one.placement.name,
  nodes: one.placement.nodes,
  changes: [changeId(one)],
  ...given({
    interruptMs: one.driver?.interruptMs,
    graceMs: one.driver?.graceMs,
    isOverRdma: one.placement.transport === 'rdma' ? (true as const) : undefined,
    stopOrder: one.driver?.stopOrder,
    gracefulShutdown: one.driver?.gracefulShutdown && {
      name: one.driver.gracefulShutdown,
      port: askedPort(one.placement),
    },
  }),
});

function startOf(one: PlacementCase, work: MeshWork, digest: Digest, view: View) {
  const { placement, mesh } = one;
  // Only explicit consent allows a start beyond the budget; otherwise a blocker prevents these steps.
  const spent = placement.transport === 'rdma' ? spentNodes(mesh.ranks, takesOfDevice(one)) : known([]);
  return {
    work,
    digest,
    transport: placement.transport,
    ...given({ pastBudget: seenValue(spent), lastTalked: mesh.usedTcp === 'no' ? undefined : ('tcp' as const) }),
    deadline: startDeadline({ files: loadedBy(one).flatMap(({ files }) => files) }, placement.firstTokenMs),
    proof: proofOf(one, digest, view),
  };
}

function closingSteps(one: PlacementCase, reason: string, needs: readonly Step[], view: View): readonly Step[] {
  // No request finishes while a signal suspends a rank, so none is waited for.
  const isSuspended = one.mesh.ranks.some(({ seen }) => seenValue(seen)?.suspended !== undefined);
  const terms = { reason, isAnswering: !isSuspended && isAnswering(one, view), needs };
  return gatewaysToClose(one, view).flatMap((gateway) => closeGateway(workOf(one), gateway, terms));
}

function gatewaysToClose(one: PlacementCase, view: View): readonly GatewayOnNode[] {
  const current = gatewaysOf(one);
  const left = leftOf(one.leftGateways, view).filter(
    (gateway) => !current.some(({ leader, port }) => leader === gateway.leader && port === gateway.port),
  );
  return [...current, ...left];
}

/** Gateways of an earlier file that a stop has to close; none if this run removes gateways, which closes them first. */
const leftOf = (left: PlacementCase['leftGateways'], { goal }: View): readonly GatewayOnNode[] =>
  removesGateways(goal) ? [] : left.map(({ leader, port }) => ({ leader, port, isLeft: true }));

function openingSteps(one: PlacementCase, needs: readonly Step[]): readonly Step[] {
  return gatewaysOf(one).map((gateway) => openGateway(workOf(one), gateway, needs));
}

/**
 * Stops the whole placement, orphaned ranks included. If it serves and is to start again, its account is checked first.
 * Files of orphaned ranks are removed, except on a Mac that restarts: such a rank may run until the restart, so no step
 * waits for its stop. Files on the placement's nodes remain.
 */
function stopSteps(one: PlacementCase, view: View): readonly Step[] {
  const restarting = restartedNodes(view.goal);
  const { mesh, orphanedRanks, leader } = one;
  const work = workOf(one);
  const ranks = [...seenRanks(mesh.ranks), ...orphanedRanks];
  const checks = one.comesBack === 'no' ? [] : checkAccounts(one, view);
  const closing = closingSteps(one, 'it is stopped.', [], view);
  const isServing = mesh.state === 'serving';
  const terms = { isAnswering: isAnswering(one, view), isServing, seconds: 0, needs: closing, restarting };
  const stops = stopRanks(() => work, ranks, terms);
  const staying = stops.filter(({ node }) => !restarting.includes(node));
  const gates = staying.length === 0 ? [] : [stoppedGate(work, leader, stops)];
  const removable = orphanedRanks.filter(({ node, seen }) => !seen.mayRun || !restarting.includes(node));
  return [
    ...(stops.length === 0 ? [] : [...checks, ...closing]),
    ...stops,
    ...gates,
    ...removeRanks(() => work, removable, [...stops, ...gates]),
  ];
}

function tidySteps(one: PlacementCase): readonly Step[] {
  const work = workOf(one);
  const terms = { isAnswering: mayGiveToken(one.orphanedRanks), seconds: 0, needs: [] };
  const stops = stopRanks(() => work, one.orphanedRanks, terms);
  return [...stops, ...removeRanks(() => work, one.orphanedRanks, stops)];
}

/** Installs and checks everything before it stops anything, and stops everything before it makes a rank ready. */
function startSteps(one: PlacementCase, next: Configured, waves: readonly StartWave[], view: View): PlacementSteps {
  const { placement, mesh, orphanedRanks, runtime, model, driver } = one;
  const work: MeshWork = { ...workOf(one), group: placement.name };
  const put = putServices(work, next.ranks);
  const asked = checkAccounts(one, view);
  const puts = prepareRanks(work, next.ranks, [...put, ...asked, ...startGates(workOf(one), one, put, view)]);
  const seen = [...seenRanks(mesh.ranks), ...orphanedRanks];
  const draining = placement.publication === undefined ? 0 : drainMs;
  const seconds = Math.ceil((draining + orderlyGraceMs + placement.firstTokenMs) / 1_000);
  const closing = closingSteps(one, 'it is being restarted.', puts, view);
  const needsOfStop = closing.length === 0 ? puts : closing;
  const stops = stopRanks(() => work, seen, { isAnswering: isAnswering(one, view), seconds, needs: needsOfStop });
  const removals = removeRanks(() => workOf(one), orphanedRanks, stops.length === 0 ? puts : stops);
  const isNear = ({ node }: Step): boolean => placement.nodes.includes(node);
  return {
    ending: [...puts, ...(stops.length === 0 ? [] : closing), ...stops, ...removals],
    starting: (others) => {
      const needs = [...(stops.length === 0 ? puts : stops), ...others.filter(isNear)];
      const dialogue = runtime && model && driver?.dialogue?.(placement, runtime, model, view.desired.thunderbolt);
      const start = { ...startOf(one, work, next.digest, view), ...given({ dialogue }), ranks: next.ranks };
      const steps = startMesh(start, waves, needs);
      return [...steps, ...openingSteps(one, steps.slice(-1))];
    },
  };
}

/** Stops the ranks in these changes, which belong to placements with unobserved ranks, in each driver's order. */
const survivorSteps = (ids: ReadonlySet<string>, view: View): readonly Step[] =>
  placementCases(view).flatMap((one) => {
    const { address } = survivorAddress(one.placement.name);
    const ranks = survivorsOf(one, view).filter(({ node }) => ids.has(propertyKey({ node, address })));
    return ranks.length === 0 ? [] : stopSurvivors(one, ranks, view);
  });

function stopSurvivors(one: PlacementCase, ranks: readonly SeenOnNode[], view: View): readonly Step[] {
  const { address } = survivorAddress(one.placement.name);
  const changes = ranks.map(({ node }) => propertyKey({ node, address }));
  const nodes = ranks.map(({ node }) => node);
  const work: MeshWork = { ...workOf(one), nodes, changes };
  // If a peer cannot be stopped, the others are stopped anyway.
  const workOn = (node: NodeName): MeshWork => ({ ...work, nodes: [node], changes: [propertyKey({ node, address })] });
  const isAsked = ({ leader }: GatewayOnNode): boolean => view.targets.some(({ desired }) => desired.name === leader);
  // An unobserved mesh may be answering, and a mesh that returned no token may only be busy.
  const mayAnswer =
    voiceOf(one) === 'unseen' || isAnswering(one, view) || ranks.some(({ seen }) => isLate(seen.record?.token));
  const closing = gatewaysToClose(one, view)
    .filter(isAsked)
    .flatMap((gateway) => {
      const { leader } = gateway;
      const ofLeader = nodes.includes(leader) ? workOn(leader) : { ...work, nodes: [leader] };
      return closeGateway(ofLeader, gateway, { reason: 'it is stopped.', isAnswering: mayAnswer, needs: [] });
    });
  const restarting = restartedNodes(view.goal);
  const terms = { isAnswering: mayAnswer, seconds: 0, needs: closing, restarting };
  const stops = stopRanks(workOn, ranks, terms);
  const staying = stops.filter(({ node }) => !restarting.includes(node));
  // A leader may have a graceful shutdown before its stop.
  const gates = alike(staying, ({ node }) => node).map(([{ node }, own]) => stoppedGate(workOn(node), node, own));
  return [...closing, ...stops, ...gates];
}

const changeOn = (node: NodeName): string => propertyKey({ node, ...orphanedRankAddress });

function orphanSteps(ids: ReadonlySet<string>, view: View): readonly Step[] {
  const found = orphans(view).filter(({ node }) => ids.has(changeOn(node)));
  const byName = [...groupBy(found, ({ placement }) => placement)].toSorted(([a], [b]) => compareText(a, b));
  return byName.flatMap(([placement, own]) => {
    const workOn = (node: NodeName): MeshWork => ({ placement, nodes: [node], changes: [changeOn(node)] });
    const left = leftGateways(view).filter((one) => one.placement === placement);
    const terms = { reason: 'it is stopped.', isAnswering: true, needs: [] };
    const closing = leftOf(left, view).flatMap((gateway) => closeGateway(workOn(gateway.leader), gateway, terms));
    return endPlacement(workOn, own, closing);
  });
}

function serviceFileSteps(ids: ReadonlySet<string>, view: View): readonly Step[] {
  return placementCases(view).flatMap(({ placement: { name }, configuration }) =>
    configuration.kind === 'incomplete'
      ? []
      : configuration.ranks.flatMap((rank): readonly Step[] => {
          const { node } = rank;
          const id = propertyKey({ node, ...serviceFileAddress(name) });
          if (!ids.has(id)) return [];
          const put = putService({ placement: name, nodes: [node], changes: [id] }, rank);
          return [{ ...put, establishes: [{ node, ...serviceFileAddress(name), value: 'intact' }] }];
        }),
  );
}

/** True if stopping it may interrupt clients, in the layout that runs now, so also for a move to its fallback. */
function isAnswering({ placement, mesh }: Pick<PlacementCase, 'placement' | 'mesh'>, view: View): boolean {
  const { nodes: observed } = view.observation;
  const own = placement.ownLayout ?? placement;
  const { name, nodes, firstTokenMs } = runsOnFallback(own, view.desired, observed) ? onFallback(own) : own;
  return mesh.isAnswering || readMesh({ placement: name, nodes, digest: '', firstTokenMs }, observed).isAnswering;
}

/**
 * The basis for evaluating a placement's next start. Equal answers can be expected only from the same placement on the
 * same macOS builds, which contain the compute kernels. If a build was not observed there is no key; the next answer is
 * then compared with the stored answer for the same file, which is kept.
 * @param digest of the placement in the file
 */
export function proofOf({ placement, mesh }: PlacementCase, digest: Digest, { observation }: View): MeshProof {
  const builds = placement.nodes.flatMap((node) => {
    const version = readValue(observation.nodes[node]?.facts, macosVersionFact);
    return version === undefined ? [] : [`${version.build}${version.extra ?? ''}`];
  });
  const key = builds.length === placement.nodes.length ? digestOf({ digest, builds }) : undefined;
  const record = seenValue(mesh.ranks[0]?.seen)?.record;
  const isComparable = key === undefined ? record?.digest === digest : record?.golden?.key === key;
  const { tokensPerSecond } = placement;
  const golden = isComparable ? record?.golden : undefined;
  return given({ key, kept: golden?.sha256, keptPerSecond: golden?.steadyPerSecond, tokensPerSecond });
}

/** The check's service never runs this long. */
const checkDeadlineMs = 120_000;

function accountCheck(name: string, one: PlacementCase): Omit<AccountCheck, 'devices'> {
  const { placement, runtime, driver } = one;
  const digest = runtime?.digest;
  const folder = digest && treeFolder({ kind: 'runtime', name: placement.runtime, digest });
  const outside = runtime && driver?.programOutside?.(runtime);
  const gpu = runtime && folder && driver?.gpuQuestion?.(runtime, folder);
  return {
    name,
    reads: [folder, ...modelFolders(one), outside].filter((path) => path !== undefined),
    ...(gpu === undefined || digest === undefined ? {} : { gpu: { ...gpu, digest, env: placement.env } }),
  };
}

function checkAccounts(one: PlacementCase, { desired, observation }: View): readonly Step[] {
  const { transport, nodes } = one.placement;
  const name = desired.system.accounts.ranks;
  if (name === undefined) return [];
  const check = accountCheck(name, one);
  // The RDMA devices that the SSH user sees; empty if unknown.
  const devicesOn = (node: NodeName): readonly string[] =>
    readValue(observation.nodes[node]?.facts, rdmaDevicesFact)?.map((device) => device.name) ?? [];
  const opensDevices = transport === 'rdma' && nodes.length > 1;
  return nodes.map((node) =>
    meshStep(workOf(one), {
      node,
      verb: 'check-account',
      act: scriptAct({ name: 'check-account', args: { ...check, ...(opensDevices && { devices: devicesOn(node) }) } }),
      deadlineMs: checkDeadlineMs,
    }),
  );
}
