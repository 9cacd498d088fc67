import type { Configured, RankConfiguration } from '../../../drivers/configure-placement.ts';
import type { RankFile, StartPhase } from '../../../drivers/contract/driver.ts';
import type { DesiredModel } from '../../../model/desired.ts';
import type { Digest } from '../../../model/digest.ts';
import type { StartDialogue } from '../../../model/endpoint-calls.ts';
import { given } from '../../../model/given.ts';
import type { NodeName } from '../../../model/node.ts';
import type { NodePath } from '../../../model/probe.ts';
import type { Act, Effect, Patch, Patience, Step, Text } from '../../../model/step.ts';
import { rankFile, serviceFile } from '../../../node/paths/own-paths.ts';
import {
  isRunning,
  type MemberState,
  type MeshStepParts,
  type MeshWork,
  meshStep,
  outsideGroup,
  placementAddress,
  rankPatch,
  scriptAct,
} from '../members.ts';
import type { RankProgress } from '../observed/rank-log.ts';
import type { Mesh } from '../state/judge-mesh.ts';

/**
 * The ranks that can be started again beside those that run: the mesh is partial, all of it is of one start and of
 * this very file, and launchd still has every dead rank loaded. Empty when the whole mesh has to be made anew.
 *
 * @param configured for the generation that runs
 */
export function ranksToRestart(mesh: Mesh, configured: Configured): readonly RankConfiguration[] {
  if (mesh.state !== 'partial') return [];
  const dead: RankConfiguration[] = [];
  for (const [index, { seen }] of mesh.members.entries()) {
    const rank = configured.ranks[index];
    if (rank === undefined || seen.kind === 'unknown') return [];
    const { record, state } = seen.value;
    if (record?.generation !== rank.record.generation || record.digest !== configured.digest) return [];
    if (state === 'exited' || state === 'ready') dead.push(rank);
    else if (!isRunning(seen.value)) return [];
  }
  return dead;
}

/**
 * Starts the dead ranks again in the generation that runs, sees all joined and asks for a token. launchd may hold a
 * rank back that it started seconds ago, and it shows as exited until then: only the exit of another one ends the wait.
 *
 * @see launchd.plist(5): ThrottleInterval
 */
export const restartRanks = (start: Omit<MeshStart, 'watched'>, dead: readonly RankConfiguration[]): readonly Step[] =>
  kickRanks(
    { ...start, watched: start.ranks.filter((rank) => !dead.includes(rank)) },
    [{ ranks: dead, until: 'joined' }],
    [],
  );

/** launchd refuses a service file that others may write. @see launchd.plist(5) */
const serviceFileMode = 0o644;
const putDeadlineMs = 30_000;
const bootstrapDeadlineMs = 60_000;
const readyDeadlineMs = 30_000;

/**
 * Brings the files that ranks read and their service files to their nodes. They are of the next start: a rank that runs has
 * read its own before.
 */
export const putServices = (work: MeshWork, ranks: readonly RankConfiguration[]): readonly Step[] =>
  ranks.flatMap((rank) => [
    ...rank.files
      .filter((file) => file.kind === 'file')
      .map(({ name, content }) => putOf(work, rank.node, `put/${name}`, rankFile(work.placement, name), content)),
    putService(work, rank),
  ]);

/** Brings one service file. */
export const putService = (work: MeshWork, { node, service }: Pick<RankConfiguration, 'node' | 'service'>): Step =>
  putOf(work, node, 'put-service', serviceFile(work.placement), service);

/** In no group: when it fails, nothing was stopped yet, and the rescue of the group would stop what serves. */
const putOf = (work: MeshWork, node: NodeName, verb: string, path: NodePath, content: Text): Step =>
  meshStep(outsideGroup(work), {
    node,
    verb,
    act: { kind: 'put', path, mode: serviceFileMode, content },
    deadlineMs: putDeadlineMs,
  });

/**
 * Makes every member ready and starts none of them before all are; then starts them in their order and asks for a
 * token.
 *
 * @param needs what must be over before a member is made ready
 */
export function startMesh(
  parts: Omit<MeshStart, 'watched'>,
  phases: readonly StartPhase[],
  needs: readonly Step[],
): readonly Step[] {
  const start: MeshStart = { ...parts, watched: parts.ranks };
  const bootstraps = start.ranks.map((rank) => bootstrapRank(start.work, rank, needs));
  const ready = rankGate(start, start.ranks, 'ready', {
    verb: 'ready',
    needs: bootstraps,
    deadlineMs: readyDeadlineMs,
  });
  return [...bootstraps, ready, ...kickRanks(start, wavesOf(start.ranks, phases), [ready])];
}

const bootstrapRank = (
  work: MeshWork,
  { node, record, request, user, files }: RankConfiguration,
  needs: readonly Step[],
): Step =>
  meshStep(work, {
    node,
    verb: 'bootstrap',
    act: scriptAct({ name: 'bootstrap-rank', args: { record, request, user, ...filesOf(files) } }),
    needs,
    effect: startEffect(work),
    establishes: [rankPatch(work.placement, node, { generation: record.generation, state: 'ready' })],
    deadlineMs: bootstrapDeadlineMs,
  });

const filesOf = (all: readonly RankFile[]) => ({
  files: all.flatMap((file) => (file.kind === 'file' ? [file.name] : [])),
  links: all.flatMap((file) => (file.kind === 'link' ? [{ name: file.name, to: file.to }] : [])),
  folders: all.flatMap((file) => (file.kind === 'folder' ? [{ name: file.name, keeps: file.keeps }] : [])),
});

function wavesOf(ranks: readonly RankConfiguration[], phases: readonly StartPhase[]): readonly Wave[] {
  const [leader, ...followers] = ranks;
  const members = { all: ranks, leader: leader === undefined ? [] : [leader], followers };
  return phases
    .map((phase) => ({ ranks: members[phase.ranks], until: phase.until }))
    .filter((wave) => wave.ranks.length > 0);
}

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
export type MeshProof = Pick<Extract<Act, { kind: 'prove' }>, 'key' | 'kept' | 'keptPerSecond' | 'tokensPerSecond'>;

const patienceOf = ({ work: { placement }, deadline: { stallMs } }: MeshStart): Patience => ({ placement, stallMs });

/** What a start needs consent for. */
const startEffect = ({ placement }: MeshWork): Effect => ({ kind: 'start', placement });

/** Ranks that are started at once, and how all of them are seen before the next wave. */
interface Wave {
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
    const gate = rankGate(start, isLast ? start.ranks : wave.ranks, isLast ? 'joined' : wave.until, {
      verb: isLast ? 'joined' : `${wave.until}-${index + 1}`,
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
    act: scriptAct({
      name: 'kick-rank',
      args: {
        placement: work.placement,
        generation: record.generation,
        ...(user === '' ? {} : { user }),
        transport,
        startMs: deadline.boundMs,
        ...given({ lastTalked, takes: takesOfDevice }),
      },
    }),
    needs,
    effect: pastBudget.includes(node) ? { kind: 'rdma-start', placement: work.placement } : startEffect(work),
    deadlineMs: kickDeadlineMs,
  });

/** Waits on the leader's node until these ranks are seen in a state; a watched rank that exits ends the wait. */
function rankGate(
  { work, ranks: all, watched }: MeshStart,
  ranks: readonly RankConfiguration[],
  state: MemberState,
  { patience, ...rest }: Pick<MeshStepParts, 'verb' | 'needs' | 'deadlineMs'> & { readonly patience?: Patience },
): Step {
  const patches = (of: readonly RankConfiguration[], seen: MemberState): readonly Patch[] =>
    of.map(({ node, record: { generation } }) => rankPatch(work.placement, node, { generation, state: seen }));
  const act: Act = {
    kind: 'gate',
    expect: patches(ranks, state),
    aborts: patches(watched, 'exited'),
    ...given({ patience }),
  };
  return meshStep(work, { node: leaderOf(all).node, act, ...rest });
}

/** Every phase of it has a deadline of its own, which progress renews; this one is for all of them, by what is loaded. */
const talkDeadlineMs = (bytes: number): number => 900_000 + Math.ceil(bytes / 300_000);

function talkOver({ work, ranks }: MeshStart, call: StartDialogue, needs: readonly Step[]): Step {
  return meshStep(work, {
    node: leaderOf(ranks).node,
    verb: 'talk',
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
  ...given({ countPointer: tokenCountPointer }),
  ...(requests === 'one' ? { isOne: true as const } : {}),
});

/** @throws Error for a mesh without ranks, which no file can declare. */
function leaderOf(ranks: readonly RankConfiguration[]): RankConfiguration {
  const [leader] = ranks;
  if (leader === undefined) throw new Error('a mesh has at least one rank');
  return leader;
}

/** How long a start is waited for. */
interface StartDeadline {
  /** Without any progress. */
  readonly stallMs: number;
  /** With progress all the time. */
  readonly boundMs: number;
}

/** What the slowest disk or cable that a model is read over gives: a tenth of what a Mac Studio's own disk does. */
const bytesPerSecond = 500_000_000;

/** How much longer than the reading itself a load may take, and what comes on top. @see docs/mesh.md */
const timesReading = 3;
const onTopMs = 120_000;

/** What memory moves by without any work. */
const leastGrowthBytes = 1_048_576;

/**
 * How long the start of a model is waited for: as long as nothing moves, no longer than the file gives the first token;
 * while it moves, as long as its bytes may take.
 */
export function startDeadline({ files }: Pick<DesiredModel, 'files'>, firstTokenMs: number): StartDeadline {
  const bytes = files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  const readingMs = Math.ceil((bytes / bytesPerSecond) * 1_000);
  return { stallMs: firstTokenMs, boundMs: firstTokenMs + timesReading * readingMs + onTopMs };
}

/** Whether a rank has come further than it ever was: it grew, or it said something. */
export const hasProgressed = (before: RankProgress, now: RankProgress): boolean =>
  now.residentBytes > before.residentBytes + leastGrowthBytes || now.logBytes > before.logBytes;

/** The furthest that a rank has been. */
export const furthest = (before: RankProgress, now: RankProgress): RankProgress => ({
  residentBytes: Math.max(before.residentBytes, now.residentBytes),
  logBytes: Math.max(before.logBytes, now.logBytes),
});
