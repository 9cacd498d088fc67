import type { NodeName } from '../model/node.ts';
import type { Effect, Patch, Step } from '../model/step.ts';
import type { Member, SeenMember } from './member.ts';
import { type MeshWork, meshStep, rankPatch, scriptAct } from './mesh-step.ts';

/** How long a rank that serves may take to end by itself. */
export const orderlyGraceMs = 10_000;

/** How long one that serves nobody may take: a hung rank does not act on SIGTERM anyway (mlx issue 3910). */
const shortGraceMs = 2_000;

/** For everything that `stop-rank` does after its grace. */
const stopDeadlineMs = 30_000;
const gateDeadlineMs = 30_000;

/** A member that was seen, on its node. */
export interface SeenOnNode {
  readonly node: NodeName;
  readonly seen: SeenMember;
}

/** The members that were seen. */
export const seenMembers = (members: readonly Member[]): readonly SeenOnNode[] =>
  members.flatMap(({ node, seen }) => (seen.kind === 'known' ? [{ node, seen: seen.value }] : []));

/** What a stop takes away, and what comes before it. */
export interface StopTerms {
  readonly isAnswering: boolean;
  /** How long nobody answers; 0 when it is meant to stay stopped. */
  readonly seconds: number;
  readonly needs: readonly Step[];
}

/**
 * Ends every process that there may be of a placement: first the leader, which lets requests in, then the others at
 * once. What answers nobody interrupts nobody.
 *
 * @param workOn the work of a node
 */
export function stopRanks(
  workOn: (node: NodeName) => MeshWork,
  members: readonly SeenOnNode[],
  terms: StopTerms,
): readonly Step[] {
  const running = members.filter(({ seen }) => seen.mayRun);
  const leaders = running.filter(({ seen }) => isLeader(seen));
  const first = leaders.map((member) => stopRank(workOn(member.node), member, terms));
  const needs = first.length === 0 ? terms.needs : first;
  const rest = running.filter(({ seen }) => !isLeader(seen));
  return [...first, ...rest.map((member) => stopRank(workOn(member.node), member, { ...terms, needs }))];
}

/** By the record that it was started with; the file may have another order by now. */
const isLeader = ({ record }: SeenMember): boolean => record?.rank === 0;

function stopRank(work: MeshWork, member: SeenOnNode, terms: StopTerms): Step {
  const { placement } = work;
  const graceMs = terms.isAnswering ? orderlyGraceMs : shortGraceMs;
  return meshStep(work, {
    node: member.node,
    verb: 'stop',
    class: 'converge',
    act: scriptAct({ name: 'stop-rank', args: { placement, graceMs } }),
    needs: terms.needs,
    effect: stopEffect(placement, terms),
    establishes: stoppedPatches(placement, member),
    deadlineMs: graceMs + stopDeadlineMs,
  });
}

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
    class: 'probe',
    act: { kind: 'gate', expect: stops.flatMap(({ establishes }) => establishes), aborts: [] },
    needs: stops,
    deadlineMs: gateDeadlineMs,
  });

/** What runs on every member as soon as a step of a start fails: no process of it may be left anywhere. */
export const rescueMesh = ({ placement, nodes }: MeshWork): readonly Step[] =>
  nodes.map((node) =>
    meshStep(
      { placement, nodes: [node], changes: [] },
      {
        node,
        verb: 'rescue',
        class: 'converge',
        act: scriptAct({ name: 'stop-rank', args: { placement, graceMs: shortGraceMs } }),
        needs: [],
        effect: { kind: 'start', placement },
        deadlineMs: shortGraceMs + stopDeadlineMs,
      },
    ),
  );
