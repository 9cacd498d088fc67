import { driverOfRecord } from '../../../drivers/registry.ts';
import type { StopDialogue } from '../../../model/endpoint-calls.ts';
import { rankPlacement } from '../../../model/facts/daemons.ts';
import type { Facts } from '../../../model/facts/fact-values.ts';
import type { StartOutcome } from '../../../model/facts/node-records.ts';
import { given } from '../../../model/given.ts';
import { andThen, type Known, known } from '../../../model/known.ts';
import type { NodeName } from '../../../model/node.ts';
import type { Effect, Patch, Step } from '../../../model/step.ts';
import { read } from '../../fact.ts';
import { servicesFact } from '../../records/services-fact.ts';
import { placementsFact } from '../observed/fact.ts';
import {
  isRunning,
  type MeshWork,
  meshStep,
  rankPatch,
  type SeenOnNode,
  type SeenRank,
  scriptAct,
  seeRank,
} from './rank-states.ts';
import { isLate } from './read-mesh.ts';

const removeDeadlineMs = 30_000;

/** An orphaned rank, which is on its node although the file does not put it there. */
export interface OrphanedRank extends SeenOnNode {
  readonly placement: string;
}

/**
 * The orphaned ranks on a node, sorted by name.
 * @param wanted names of the placements that the file puts on this node
 */
export const orphanedRanksOn = (
  node: NodeName,
  facts: Facts,
  wanted: readonly string[],
): Known<readonly OrphanedRank[]> =>
  andThen(read(facts, placementsFact), (placements) =>
    andThen(read(facts, servicesFact), (services) => {
      const names = [
        ...placements.map(({ placement }) => placement),
        ...services.flatMap((service) => rankPlacement(service) ?? []),
      ];
      const found: OrphanedRank[] = [];
      for (const placement of [...new Set(names)].filter((name) => !wanted.includes(name)).toSorted()) {
        const { seen } = seeRank(node, placement, facts);
        if (seen.kind === 'unknown') return seen;
        found.push({ node, placement, seen: seen.value });
      }
      return known(found);
    }),
  );

/** True if ranks may still answer: a token came, a client was waiting, or only the deadline passed. */
export const mayGiveToken = (ranks: readonly SeenOnNode[]): boolean =>
  ranks.some(({ seen: { record } }) => {
    const kind = record?.token.kind;
    return kind === 'answered' || kind === 'in-flight' || isLate(record?.token);
  });

/** The same for orphaned ranks; also true if a rank runs and the leader is not among them. */
const mayAnswer = (orphanedRanks: readonly SeenOnNode[]): boolean =>
  mayGiveToken(orphanedRanks) ||
  (!orphanedRanks.some(({ seen }) => isLeader(seen)) && orphanedRanks.some(({ seen }) => isRunning(seen)));

/** Removes service files and records. @param needs the steps that stopped the ranks */
export const removeRanks = (
  workOn: (node: NodeName) => MeshWork,
  orphanedRanks: readonly SeenOnNode[],
  needs: readonly Step[],
): readonly Step[] =>
  orphanedRanks.map(({ node }) => {
    const work = workOn(node);
    const { placement } = work;
    return meshStep(work, {
      node,
      verb: 'remove',
      act: scriptAct({ name: 'remove-rank', args: { placement } }),
      needs,
      establishes: [rankPatch(placement, node, { generation: 0, state: 'absent' })],
      deadlineMs: removeDeadlineMs,
    });
  });

/** Stops and removes a placement that is not in the file. @param needs the steps that close its gateways */
export function endPlacement(
  workOn: (node: NodeName) => MeshWork,
  orphanedRanks: readonly SeenOnNode[],
  needs: readonly Step[] = [],
): readonly Step[] {
  const stops = stopRanks(workOn, orphanedRanks, { isAnswering: mayAnswer(orphanedRanks), seconds: 0, needs });
  return [...(stops.length === 0 ? [] : needs), ...stops, ...removeRanks(workOn, orphanedRanks, stops)];
}

/**
 * The stop settings of the driver that started these ranks, whatever the current file sets. If the ranks' records name
 * no known driver, the stop skips the graceful shutdown and SIGINT, which an unknown program may not handle.
 */
function endedByRecord(work: MeshWork, ranks: readonly SeenOnNode[]): MeshWork {
  const [record] = ranks.flatMap(({ seen }) => seen.record ?? []);
  const driver = record && driverOfRecord(record);
  if (record === undefined) return work;
  if (driver === undefined) {
    const { gracefulShutdown: _shutdown, interruptMs: _interruptMs, ...rest } = work;
    return rest;
  }
  const { placement, nodes, changes, group, isOverRdma } = work;
  const { interruptMs, graceMs, stopOrder, gracefulShutdown: name } = driver;
  return {
    placement,
    nodes,
    changes,
    stopOrder,
    ...given({ group, interruptMs, graceMs, isOverRdma }),
    ...(name === undefined ? {} : { gracefulShutdown: { name, port: record.endpointPort } }),
  };
}

export const orderlyGraceMs = 10_000;

/** The time that any other rank gets: a hung rank ignores SIGTERM anyway (mlx issue 3910). */
const shortGraceMs = 2_000;

/**
 * The time that a rank gets over RDMA, if it does not exit before. After SIGKILL, its memory may stay wired, and then
 * only a reboot frees it.
 *
 * @see avlp12/two-macstudio-m3u: 88 to 96 GB stay wired without an owner after a kill in a collective operation
 */
const rdmaPatienceMs = 180_000;

/** exo's runners exit, or are killed, within half of this time. */
const gracefulShutdownMs = 40_000;

/** Deadline for everything that `stop-rank` does after the grace period. */
const stopDeadlineMs = 60_000;
const gateDeadlineMs = 30_000;

interface StopTerms {
  readonly isAnswering: boolean;
  /** Length of the interruption; 0 if the placement remains stopped. */
  readonly seconds: number;
  readonly needs: readonly Step[];
  /** True if it is known to serve, even if it returned no token during the observation. */
  readonly isServing?: boolean;
  /** Nodes that restart or shut down afterwards, which ends even a process that survives SIGKILL. */
  readonly restarting?: readonly NodeName[];
}

/**
 * Stops every process that a placement may have. If the driver wants it, all ranks stop in parallel. Otherwise the
 * leader stops first, because it accepts the requests; the others follow in parallel, whatever the leader's outcome.
 * @param workFor the work on a node, as in the file
 */
export function stopRanks(
  workFor: (node: NodeName) => MeshWork,
  ranks: readonly SeenOnNode[],
  terms: StopTerms,
): readonly Step[] {
  const workOn = (node: NodeName): MeshWork => endedByRecord(workFor(node), ranks);
  const running = ranks.filter(({ seen }) => seen.mayRun);
  const leaders = running.filter(({ seen }) => isLeader(seen));
  const graceful = gracefulShutdowns(workOn, leaders, terms);
  const outcome = terms.isServing === true ? 'served' : outcomeOf(ranks);
  const behind = { ...terms, after: graceful, ...given({ outcome }) };
  const first = leaders.map((rank) => stopRank(workOn(rank.node), rank, behind));
  const rest = running.filter(({ seen }) => !isLeader(seen));
  // Not `needs`: even if the leader cannot be stopped, the others are stopped.
  return [
    ...graceful,
    ...first,
    ...rest.map((rank) => {
      const work = workOn(rank.node);
      return stopRank(work, rank, work.stopOrder === 'together' ? behind : { ...behind, after: first });
    }),
  ];
}

/** The outcome of these ranks' start; undefined if it is unclear whether they return tokens. */
function outcomeOf(ranks: readonly SeenOnNode[]): StartOutcome | undefined {
  const tokens = ranks.flatMap(({ seen: { record } }) => record?.token.kind ?? []);
  if (tokens.includes('answered')) return 'served';
  return tokens.includes('silent') && ranks.every(({ seen }) => isRunning(seen)) ? 'hung' : undefined;
}

/** The graceful shutdown of a leader before any rank is stopped; empty if the leader has not joined. */
function gracefulShutdowns(
  workOn: (node: NodeName) => MeshWork,
  leaders: readonly SeenOnNode[],
  terms: StopTerms,
): readonly Step[] {
  return leaders.flatMap(({ node, seen: { state, record } }) => {
    const work = workOn(node);
    if (work.gracefulShutdown === undefined || record === undefined || state !== 'joined') return [];
    const { name } = work.gracefulShutdown;
    const about = { verb: 'graceful-shutdown', needs: terms.needs, effect: stopEffect(work.placement, terms) };
    return gracefulShutdownStep(work, { name, args: { node, port: record.endpointPort } }, about);
  });
}

const gracefulShutdownStep = (
  work: MeshWork,
  call: StopDialogue,
  { verb, needs, effect }: { readonly verb: string; readonly needs: readonly Step[]; readonly effect: Effect },
): Step =>
  meshStep(work, {
    node: call.args.node,
    verb,
    act: { kind: 'dialogue', placement: work.placement, ...call },
    needs,
    effect,
    deadlineMs: gracefulShutdownMs,
  });

/** True if the rank's own record makes it the leader; the file may have changed the order since that start. */
const isLeader = ({ record }: SeenRank): boolean => record?.rank === 0;

interface EndTerms extends StopTerms {
  /** Steps that must end first, whatever their outcome. */
  readonly after: readonly Step[];
  readonly outcome?: StartOutcome;
}

function stopRank(work: MeshWork, rank: SeenOnNode, terms: EndTerms): Step {
  const { placement } = work;
  const graceMs = graceOf(work, terms.isAnswering ? orderlyGraceMs : shortGraceMs);
  const interrupt = interruptOf(work, graceMs);
  const isBeforeReboot = terms.restarting?.includes(rank.node) === true;
  const before = isBeforeReboot ? ({ beforeReboot: true } as const) : {};
  // A restart of the Mac frees everything that SIGKILL leaves behind.
  const patienceMs = work.isOverRdma && !isBeforeReboot ? rdmaPatienceMs : undefined;
  const outcome = given({ outcome: terms.outcome });
  return meshStep(work, {
    node: rank.node,
    verb: 'stop',
    act: scriptAct({
      name: 'stop-rank',
      args: { placement, graceMs, ...given({ patienceMs }), ...interrupt, ...before, ...outcome },
    }),
    needs: terms.needs,
    after: terms.after,
    effect: stopEffect(placement, terms),
    // A process stuck in the kernel stays visible until the restart, whose new boot session is the proof.
    establishes: isBeforeReboot ? [] : stoppedPatches(placement, rank),
    deadlineMs: Math.max(graceMs, patienceMs ?? 0) + (interrupt.interruptMs ?? 0) + stopDeadlineMs,
  });
}

const graceOf = ({ graceMs = 0 }: MeshWork, usualMs: number): number => Math.max(graceMs, usualMs);

/** The wait after SIGINT is never longer than the one after SIGTERM. */
const interruptOf = ({ interruptMs }: MeshWork, graceMs: number): { readonly interruptMs?: number } =>
  given({ interruptMs: interruptMs && Math.min(interruptMs, graceMs) });

const stopEffect = (placement: string, { isAnswering, seconds }: StopTerms): Effect =>
  isAnswering ? { kind: 'interrupt', placement, seconds } : { kind: 'start', placement };

/** Without a record, the state to expect after the stop is unknown. */
const stoppedPatches = (placement: string, { node, seen: { record } }: SeenOnNode): readonly Patch[] =>
  record === undefined ? [] : [rankPatch(placement, node, { generation: record.generation, state: 'stopped' })];

export const stoppedGate = (work: MeshWork, leader: NodeName, stops: readonly Step[]): Step =>
  meshStep(work, {
    node: leader,
    verb: 'stopped',
    act: { kind: 'gate', expect: stops.flatMap(({ establishes }) => establishes), aborts: [] },
    needs: stops,
    deadlineMs: gateDeadlineMs,
  });

/**
 * Stops all ranks as soon as a step of a start fails, so that no process remains anywhere. Without the patience of
 * RDMA: after a failed start, the ranks wait for each other.
 */
export function rescueMesh(work: MeshWork): readonly Step[] {
  const { placement, nodes } = work;
  const graceMs = graceOf(work, shortGraceMs);
  const interrupt = interruptOf(work, shortGraceMs);
  const workOn = (node: NodeName): MeshWork => ({ placement, nodes: [node], changes: [] });
  const effect: Effect = { kind: 'start', placement };
  const graceful = nodes.slice(0, 1).flatMap((node) => {
    if (work.gracefulShutdown === undefined) return [];
    const { name, port } = work.gracefulShutdown;
    // A separate ID, because the same plan may also have a graceful shutdown before the start.
    return gracefulShutdownStep(
      workOn(node),
      { name, args: { node, port } },
      { verb: 'rescue-graceful-shutdown', needs: [], effect },
    );
  });
  const stops = nodes.map((node) =>
    meshStep(workOn(node), {
      node,
      verb: 'rescue',
      act: scriptAct({ name: 'stop-rank', args: { placement, graceMs, ...interrupt, outcome: 'failed' } }),
      // A rescue continues whatever the outcome of the steps before it.
      needs: graceful,
      effect,
      deadlineMs: graceMs + (interrupt.interruptMs ?? 0) + stopDeadlineMs,
    }),
  );
  return [...graceful, ...stops];
}
