import { driverOfRecord } from '../../drivers/registry.ts';
import type { StopDialogue } from '../../model/endpoint-calls.ts';
import { rankPlacement } from '../../model/facts/daemons.ts';
import type { Facts } from '../../model/facts/fact-values.ts';
import type { StartOutcome } from '../../model/facts/node-records.ts';
import { given } from '../../model/given.ts';
import { andThen, type Known, known } from '../../model/known.ts';
import type { NodeName } from '../../model/node.ts';
import type { Effect, Patch, Step } from '../../model/step.ts';
import { read } from '../fact.ts';
import { servicesFact } from '../records/services-fact.ts';
import {
  isRunning,
  type MeshWork,
  meshStep,
  rankPatch,
  type SeenMember,
  type SeenOnNode,
  scriptAct,
  seeMember,
} from './members.ts';
import { placementsFact } from './observed/fact.ts';
import { isLate } from './state/judge-mesh.ts';

const removeDeadlineMs = 30_000;

/** A member that its node keeps and that the file does not have there. */
export interface Leftover extends SeenOnNode {
  readonly placement: string;
}

/**
 * What a node keeps of placements, sorted by name, besides those that it is to have.
 *
 * @param wanted names of the placements that the file puts on this node
 */
export const leftoversOn = (node: NodeName, facts: Facts, wanted: readonly string[]): Known<readonly Leftover[]> =>
  andThen(read(facts, placementsFact), (placements) =>
    andThen(read(facts, servicesFact), (services) => {
      const names = [
        ...placements.map(({ placement }) => placement),
        ...services.flatMap((service) => rankPlacement(service) ?? []),
      ];
      const found: Leftover[] = [];
      for (const placement of [...new Set(names)].filter((name) => !wanted.includes(name)).toSorted()) {
        const { seen } = seeMember(node, placement, facts);
        if (seen.kind === 'unknown') return seen;
        found.push({ node, placement, seen: seen.value });
      }
      return known(found);
    }),
  );

/** Whether ranks may still answer a client: their leader gave a token, or none in time. */
export const mayGiveToken = (ranks: readonly SeenOnNode[]): boolean =>
  ranks.some(({ seen: { record } }) => record?.token.kind === 'answered' || isLate(record?.token));

/** The same of what is left over; also where a rank runs and the leader, which could be asked, is not seen. */
const mayAnswer = (leftovers: readonly SeenOnNode[]): boolean =>
  mayGiveToken(leftovers) ||
  (!leftovers.some(({ seen }) => isLeader(seen)) && leftovers.some(({ seen }) => isRunning(seen)));

/** Takes service files and records away. @param needs what has stopped the members */
export const removeRanks = (
  workOn: (node: NodeName) => MeshWork,
  leftovers: readonly SeenOnNode[],
  needs: readonly Step[],
): readonly Step[] =>
  leftovers.map(({ node }) => {
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

/**
 * Ends a placement that the file does not have at all.
 * @param needs what closes its doors
 */
export function endPlacement(
  workOn: (node: NodeName) => MeshWork,
  leftovers: readonly SeenOnNode[],
  needs: readonly Step[] = [],
): readonly Step[] {
  const stops = stopRanks(workOn, leftovers, { isAnswering: mayAnswer(leftovers), seconds: 0, needs });
  return [...(stops.length === 0 ? [] : needs), ...stops, ...removeRanks(workOn, leftovers, stops)];
}

/**
 * The work of a stop as the driver wants it by which these members were started, whatever the file says by now. Where
 * their records do not tell, nothing is said to their leader and no INT is sent: another program may not bear either.
 */
function endedByRecord(work: MeshWork, members: readonly SeenOnNode[]): MeshWork {
  const [record] = members.flatMap(({ seen }) => seen.record ?? []);
  const driver = record && driverOfRecord(record);
  if (record === undefined) return work;
  if (driver === undefined) {
    const { farewell: _farewell, interruptMs: _interruptMs, ...rest } = work;
    return rest;
  }
  const { placement, nodes, changes, group } = work;
  const { interruptMs, graceMs, stopOrder, farewell: name } = driver;
  return {
    placement,
    nodes,
    changes,
    stopOrder,
    ...given({ group, interruptMs, graceMs }),
    ...(name === undefined ? {} : { farewell: { name, port: record.endpointPort } }),
  };
}

/** How long a rank that serves may take to end by itself. */
export const orderlyGraceMs = 10_000;

/** How long one that serves nobody may take: a hung rank does not act on SIGTERM anyway (mlx issue 3910). */
const shortGraceMs = 2_000;

/** Runners of exo that are told to end have ended, or been killed, after half of it. */
const farewellDeadlineMs = 40_000;

/** For everything that `stop-rank` does after its grace. */
const stopDeadlineMs = 60_000;
const gateDeadlineMs = 30_000;

/** What a stop takes away, and what comes before it. */
interface StopTerms {
  readonly isAnswering: boolean;
  /** How long nobody answers; 0 when it is meant to stay stopped. */
  readonly seconds: number;
  readonly needs: readonly Step[];
  /** Stops that it begins behind, whatever came of them. */
  readonly after?: readonly Step[];
  /** Set where it is known to serve, though it may have given no token while it was looked at. */
  readonly isServing?: boolean;
  /** Nodes that are restarted or switched off behind it, which ends there what nothing else does. */
  readonly restarting?: readonly NodeName[];
}

/**
 * Ends every process that there may be of a placement: all at once where its driver wants that, else first the leader,
 * which lets requests in, and when its stop has ended in any way the others at once. What answers nobody interrupts
 * nobody.
 *
 * @param workFor the work of a node, by the file
 */
export function stopRanks(
  workFor: (node: NodeName) => MeshWork,
  members: readonly SeenOnNode[],
  terms: StopTerms,
): readonly Step[] {
  const workOn = (node: NodeName): MeshWork => endedByRecord(workFor(node), members);
  const running = members.filter(({ seen }) => seen.mayRun);
  const leaders = running.filter(({ seen }) => isLeader(seen));
  const words = farewells(workOn, leaders, terms);
  const outcome = terms.isServing === true ? 'served' : outcomeOf(members);
  const behind = { ...terms, after: [...(terms.after ?? []), ...words], ...given({ outcome }) };
  const first = leaders.map((member) => stopRank(workOn(member.node), member, behind));
  const rest = running.filter(({ seen }) => !isLeader(seen));
  // Not `needs`: a leader that cannot be stopped is no reason to leave the others running.
  return [
    ...words,
    ...first,
    ...rest.map((member) => {
      const work = workOn(member.node);
      return stopRank(work, member, work.stopOrder === 'together' ? behind : { ...behind, after: first });
    }),
  ];
}

/** What became of the start of these ranks; undefined where they show neither a token nor that none comes. */
function outcomeOf(members: readonly SeenOnNode[]): StartOutcome | undefined {
  const tokens = members.flatMap(({ seen: { record } }) => record?.token.kind ?? []);
  if (tokens.includes('answered')) return 'served';
  return tokens.includes('silent') && members.every(({ seen }) => isRunning(seen)) ? 'hung' : undefined;
}

/** What a leader that serves is told before any rank of it; one that does not listen is told nothing. */
function farewells(
  workOn: (node: NodeName) => MeshWork,
  leaders: readonly SeenOnNode[],
  terms: StopTerms,
): readonly Step[] {
  return leaders.flatMap(({ node, seen: { state, record } }) => {
    const work = workOn(node);
    if (work.farewell === undefined || record === undefined || state !== 'joined') return [];
    const { name } = work.farewell;
    const about = { verb: 'farewell', needs: terms.needs, effect: stopEffect(work.placement, terms) };
    return farewellStep(work, { name, args: { node, port: record.endpointPort } }, about);
  });
}

const farewellStep = (
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
    deadlineMs: farewellDeadlineMs,
  });

/** By the record that it was started with; the file may have another order by now. */
const isLeader = ({ record }: SeenMember): boolean => record?.rank === 0;

function stopRank(work: MeshWork, member: SeenOnNode, terms: StopTerms & { readonly outcome?: StartOutcome }): Step {
  const { placement } = work;
  const graceMs = graceOf(work, terms.isAnswering ? orderlyGraceMs : shortGraceMs);
  const interrupt = interruptOf(work, graceMs);
  const isBeforeReboot = terms.restarting?.includes(member.node) === true;
  const before = isBeforeReboot ? ({ beforeReboot: true } as const) : {};
  const outcome = given({ outcome: terms.outcome });
  return meshStep(work, {
    node: member.node,
    verb: 'stop',
    act: scriptAct({ name: 'stop-rank', args: { placement, graceMs, ...interrupt, ...before, ...outcome } }),
    needs: terms.needs,
    after: terms.after ?? [],
    effect: stopEffect(placement, terms),
    // What the kernel holds is seen until the restart, whose new boot session is the proof.
    establishes: isBeforeReboot ? [] : stoppedPatches(placement, member),
    deadlineMs: graceMs + (interrupt.interruptMs ?? 0) + stopDeadlineMs,
  });
}

const graceOf = ({ graceMs = 0 }: MeshWork, usualMs: number): number => Math.max(graceMs, usualMs);

/** A rank that serves nobody is not waited for longer than it is after TERM. */
const interruptOf = ({ interruptMs }: MeshWork, graceMs: number): { readonly interruptMs?: number } =>
  given({ interruptMs: interruptMs && Math.min(interruptMs, graceMs) });

const stopEffect = (placement: string, { isAnswering, seconds }: StopTerms): Effect =>
  isAnswering ? { kind: 'interrupt', placement, seconds } : { kind: 'start', placement };

/** Without a record nothing says what is to be seen afterwards. */
const stoppedPatches = (placement: string, { node, seen: { record } }: SeenOnNode): readonly Patch[] =>
  record === undefined ? [] : [rankPatch(placement, node, { generation: record.generation, state: 'stopped' })];

/** Waits on the leader's node until every member that was stopped is seen stopped. */
export const stoppedGate = (work: MeshWork, leader: NodeName, stops: readonly Step[]): Step =>
  meshStep(work, {
    node: leader,
    verb: 'stopped',
    act: { kind: 'gate', expect: stops.flatMap(({ establishes }) => establishes), aborts: [] },
    needs: stops,
    deadlineMs: gateDeadlineMs,
  });

/** What runs on every member as soon as a step of a start fails: no process of it may be left anywhere. */
export function rescueMesh(work: MeshWork): readonly Step[] {
  const { placement, nodes } = work;
  const graceMs = graceOf(work, shortGraceMs);
  const interrupt = interruptOf(work, shortGraceMs);
  const workOn = (node: NodeName): MeshWork => ({ placement, nodes: [node], changes: [] });
  const effect: Effect = { kind: 'start', placement };
  const words = nodes.slice(0, 1).flatMap((node) => {
    if (work.farewell === undefined) return [];
    const { name, port } = work.farewell;
    // An id of its own: the same plan may have a farewell before the start as well.
    return farewellStep(workOn(node), { name, args: { node, port } }, { verb: 'rescue-farewell', needs: [], effect });
  });
  const stops = nodes.map((node) =>
    meshStep(workOn(node), {
      node,
      verb: 'rescue',
      act: scriptAct({ name: 'stop-rank', args: { placement, graceMs, ...interrupt, outcome: 'failed' } }),
      // A rescue goes on whatever came of what it needs.
      needs: words,
      effect,
      deadlineMs: graceMs + (interrupt.interruptMs ?? 0) + stopDeadlineMs,
    }),
  );
  return [...words, ...stops];
}
