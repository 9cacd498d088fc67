import type { Digest } from '../model/digest.ts';
import type { Effect, Patch, Step } from '../model/step.ts';
import type { RankConfiguration } from '../runtimes/configure-placement.ts';
import type { MemberState } from './member.ts';
import { type MeshWork, meshStep, placementAddress, rankPatch, scriptAct } from './mesh-step.ts';

const kickDeadlineMs = 30_000;

/** One start of a placement, or of some of its ranks. */
export interface MeshStart {
  readonly work: MeshWork;
  readonly digest: Digest;
  /** Every rank in order, with the generation that it has or gets; at least one. */
  readonly ranks: readonly RankConfiguration[];
  /** Ranks whose exit ends a wait at once. */
  readonly watched: readonly RankConfiguration[];
  readonly transport: 'rdma' | 'tcp';
  /** How long each wave may take to join, and the token after the last one. */
  readonly firstTokenMs: number;
}

/** What a start needs consent for. */
export const startEffect = ({ placement }: MeshWork): Effect => ({ kind: 'start', placement });

/**
 * Starts ranks that are ready, one wave after the other: those of a wave at once, the next only when this one was seen
 * to have joined. After the last wave every rank must have joined, and the endpoint must give a token.
 */
export function kickRanks(
  start: MeshStart,
  waves: readonly (readonly RankConfiguration[])[],
  needs: readonly Step[],
): readonly Step[] {
  const steps: Step[] = [];
  let last = needs;
  for (const [index, wave] of waves.entries()) {
    const isLast = index === waves.length - 1;
    const kicks = wave.map((rank) => kickRank(start, rank, last));
    const gate = joinedGate(start, {
      verb: isLast ? 'joined' : `joined-${index + 1}`,
      ranks: isLast ? start.ranks : wave,
      needs: kicks,
    });
    steps.push(...kicks, gate);
    last = [gate];
  }
  return [...steps, askToken(start, last)];
}

const kickRank = (
  { work, transport, firstTokenMs }: MeshStart,
  { node, record }: RankConfiguration,
  needs: readonly Step[],
): Step =>
  meshStep(work, {
    node,
    verb: 'kick',
    class: 'converge',
    act: scriptAct({
      name: 'kick-rank',
      args: { placement: work.placement, generation: record.generation, transport, startMs: firstTokenMs },
    }),
    needs,
    effect: startEffect(work),
    deadlineMs: kickDeadlineMs,
  });

interface JoinedGate {
  readonly verb: string;
  readonly ranks: readonly RankConfiguration[];
  readonly needs: readonly Step[];
}

const joinedGate = (start: MeshStart, gate: JoinedGate): Step =>
  rankGate(start, { ...gate, state: 'joined', deadlineMs: start.firstTokenMs });

/** A gate over ranks, and what it waits for. */
export interface RankGate extends JoinedGate {
  readonly state: MemberState;
  readonly deadlineMs: number;
}

/** Waits on the leader's node until these ranks are seen in a state; a watched rank that exits ends the wait. */
export function rankGate(
  { work, ranks: all, watched }: MeshStart,
  { verb, ranks, state, needs, deadlineMs }: RankGate,
): Step {
  const patches = (of: readonly RankConfiguration[], seen: MemberState): readonly Patch[] =>
    of.map(({ node, record: { generation } }) => rankPatch(work.placement, node, { generation, state: seen }));
  return meshStep(work, {
    node: leaderOf(all).node,
    verb,
    class: 'probe',
    act: { kind: 'gate', expect: patches(ranks, state), aborts: patches(watched, 'exited') },
    needs,
    deadlineMs,
  });
}

function askToken({ work, ranks, digest, firstTokenMs }: MeshStart, needs: readonly Step[]): Step {
  const { node, record, request } = leaderOf(ranks);
  const { placement } = work;
  const { endpointPort: port, tokenPath: path, tokenPointer: pointer } = record;
  return meshStep(work, {
    node,
    verb: 'ask',
    class: 'probe',
    act: { kind: 'ask', placement, judge: 'token', port, path, request, pointer },
    needs,
    establishes: [{ node, address: placementAddress(placement), value: { state: 'serving', digest } }],
    deadlineMs: firstTokenMs,
  });
}

/** @throws Error for a mesh without ranks, which no file can declare. */
function leaderOf(ranks: readonly RankConfiguration[]): RankConfiguration {
  const [leader] = ranks;
  if (leader === undefined) throw new Error('a mesh has at least one rank');
  return leader;
}
