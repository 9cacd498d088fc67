import type { RankConfiguration } from '../../../drivers/configure-placement.ts';
import type { Digest } from '../../../model/digest.ts';
import type { StartDialogue } from '../../../model/endpoint-calls.ts';
import type { NodeName } from '../../../model/node.ts';
import type { Effect, Patch, Patience, Step } from '../../../model/step.ts';
import type { MemberState } from '../members/member.ts';
import { type MeshWork, meshStep, placementAddress, rankPatch, scriptAct } from '../members/mesh-step.ts';
import type { StartDeadline } from './start-deadline.ts';

const kickDeadlineMs = 30_000;

/** For some dozen tokens: a mesh that gives fewer than one in three seconds serves nobody. */
const answerDeadlineMs = 100_000;

/** One start of a placement, or of some of its ranks. */
export interface MeshStart {
  readonly work: MeshWork;
  readonly digest: Digest;
  /** Every rank in order, with the generation that it has or gets; at least one. */
  readonly ranks: readonly RankConfiguration[];
  /** Ranks whose exit ends a wait at once. */
  readonly watched: readonly RankConfiguration[];
  readonly transport: 'rdma' | 'tcp';
  /** Nodes whose launch budget has no room for it; none where absent. */
  readonly pastBudget?: readonly NodeName[];
  /** Set where the last start of this boot session came back over that, against the file. */
  readonly lastTalked?: 'tcp';
  /** How long each wave may take to join, and the token after the last one. */
  readonly deadline: StartDeadline;
  /** What has to be talked over with the endpoint before it is asked for a token. */
  readonly dialogue?: StartDialogue;
  /** What the golden answer is kept under, and compared with. */
  readonly proof: MeshProof;
}

/** What a start is compared with. */
export interface MeshProof {
  /** Absent where nobody knows on which macOS it runs: then nothing is kept. */
  readonly key?: Digest;
  /** Of the answer of an earlier start under this key. */
  readonly kept?: Digest;
  /** Tokens in a second of the fastest start under it. */
  readonly keptPerSecond?: number;
  /** What the file expects at least. */
  readonly tokensPerSecond?: number;
}

const patienceOf = ({ work: { placement }, deadline: { stallMs } }: MeshStart): Patience => ({ placement, stallMs });

/** What a start needs consent for. */
export const startEffect = ({ placement }: MeshWork): Effect => ({ kind: 'start', placement });

/** Ranks that are started at once, and how all of them are seen before the next wave. */
export interface Wave {
  readonly ranks: readonly RankConfiguration[];
  readonly until: 'meeting' | 'joined';
}

/**
 * Starts ranks that are ready, one wave after the other: those of a wave at once, the next only when this one was seen
 * to meet or to have joined. After the last wave every rank must have joined, and the endpoint must give a token.
 */
export function kickRanks(start: MeshStart, waves: readonly Wave[], needs: readonly Step[]): readonly Step[] {
  const steps: Step[] = [];
  let last = needs;
  for (const [index, wave] of waves.entries()) {
    const isLast = index === waves.length - 1;
    const kicks = wave.ranks.map((rank) => kickRank(start, rank, last));
    const gate = rankGate(start, {
      verb: isLast ? 'joined' : `${wave.until}-${index + 1}`,
      ranks: isLast ? start.ranks : wave.ranks,
      state: isLast ? 'joined' : wave.until,
      needs: kicks,
      deadlineMs: start.deadline.boundMs,
      patience: patienceOf(start),
    });
    steps.push(...kicks, gate);
    last = [gate];
  }
  const talks = start.dialogue === undefined ? [] : [talkOver(start, start.dialogue, last)];
  const asked = askToken(start, talks.length === 0 ? last : talks);
  return [...steps, ...talks, asked, ...proveMesh(start, [asked])];
}

const kickRank = (
  { work, transport, lastTalked, deadline, pastBudget = [] }: MeshStart,
  { node, record, user, takesOfDevice }: RankConfiguration,
  needs: readonly Step[],
): Step =>
  meshStep(work, {
    node,
    verb: 'kick',
    class: 'converge',
    act: scriptAct({
      name: 'kick-rank',
      args: {
        placement: work.placement,
        generation: record.generation,
        ...(user === '' ? {} : { user }),
        transport,
        startMs: deadline.boundMs,
        ...(lastTalked === undefined ? {} : { lastTalked }),
        ...(takesOfDevice === undefined ? {} : { takes: takesOfDevice }),
      },
    }),
    needs,
    effect: pastBudget.includes(node) ? { kind: 'rdma-start', placement: work.placement } : startEffect(work),
    deadlineMs: kickDeadlineMs,
  });

/** A gate over ranks, and what it waits for. */
export interface RankGate {
  readonly verb: string;
  readonly ranks: readonly RankConfiguration[];
  readonly state: MemberState;
  readonly needs: readonly Step[];
  readonly deadlineMs: number;
  readonly patience?: Patience;
}

/** Waits on the leader's node until these ranks are seen in a state; a watched rank that exits ends the wait. */
export function rankGate(
  { work, ranks: all, watched }: MeshStart,
  { verb, ranks, state, needs, deadlineMs, patience }: RankGate,
): Step {
  const patches = (of: readonly RankConfiguration[], seen: MemberState): readonly Patch[] =>
    of.map(({ node, record: { generation } }) => rankPatch(work.placement, node, { generation, state: seen }));
  return meshStep(work, {
    node: leaderOf(all).node,
    verb,
    class: 'probe',
    act: {
      kind: 'gate',
      expect: patches(ranks, state),
      aborts: patches(watched, 'exited'),
      ...(patience && { patience }),
    },
    needs,
    deadlineMs,
  });
}

/** Every phase of it has a deadline of its own, which progress renews; this one is for all of them, by what is loaded. */
const talkDeadlineMs = (bytes: number): number => 900_000 + Math.ceil(bytes / 300_000);

function talkOver({ work, ranks }: MeshStart, call: StartDialogue, needs: readonly Step[]): Step {
  return meshStep(work, {
    node: leaderOf(ranks).node,
    verb: 'talk',
    class: 'converge',
    act: { kind: 'dialogue', placement: work.placement, ...call },
    needs,
    effect: startEffect(work),
    deadlineMs: talkDeadlineMs(call.args.bytesPerNode),
  });
}

function askToken(start: MeshStart, needs: readonly Step[]): Step {
  const { work, ranks, digest, deadline } = start;
  const { node, record, request } = leaderOf(ranks);
  const { placement } = work;
  return meshStep(work, {
    node,
    verb: 'ask',
    class: 'probe',
    act: { kind: 'ask', placement, judge: 'token', request, ...endpointOf(record), patience: patienceOf(start) },
    needs,
    establishes: [{ node, ...placementAddress(placement), value: { state: 'serving', digest } }],
    deadlineMs: deadline.boundMs,
  });
}

/**
 * Asks the golden question behind the token, where an answer can be compared or a speed is expected.
 */
function proveMesh({ work, ranks, deadline, proof }: MeshStart, needs: readonly Step[]): readonly Step[] {
  const { node, record, request, golden } = leaderOf(ranks);
  const { placement } = work;
  if (golden.check === 'none' && proof.tokensPerSecond === undefined) return [];
  const questions = { token: request, question: golden.question, check: golden.check };
  return [
    meshStep(work, {
      node,
      verb: 'prove',
      class: 'converge',
      act: { kind: 'prove', placement, ...endpointOf(record), ...questions, ...proof },
      needs,
      deadlineMs: deadline.stallMs + answerDeadlineMs,
    }),
  ];
}

const endpointOf = ({
  endpointPort,
  tokenPath,
  tokenPointer,
  tokenCountPointer,
  requests,
}: RankConfiguration['record']) => ({
  port: endpointPort,
  path: tokenPath,
  pointer: tokenPointer,
  ...(tokenCountPointer === undefined ? {} : { countPointer: tokenCountPointer }),
  ...(requests === 'one' ? { isOne: true as const } : {}),
});

/** @throws Error for a mesh without ranks, which no file can declare. */
function leaderOf(ranks: readonly RankConfiguration[]): RankConfiguration {
  const [leader] = ranks;
  if (leader === undefined) throw new Error('a mesh has at least one rank');
  return leader;
}
