import type { Configured, RankConfiguration } from '../../../drivers/configure-placement.ts';
import type { RankFile, StartWave } from '../../../drivers/contract/driver.ts';
import type { DesiredModel } from '../../../model/desired.ts';
import type { Digest } from '../../../model/digest.ts';
import type { StartDialogue } from '../../../model/endpoint-calls.ts';
import { given } from '../../../model/given.ts';
import type { NodeName } from '../../../model/node.ts';
import type { NodePath } from '../../../model/probe.ts';
import type { Act, Effect, Patch, Patience, Step, Text } from '../../../model/step.ts';
import { rankFile, serviceFile } from '../../../node/paths/own-paths.ts';
import type { RankProgress } from '../observed/rank-log-script.ts';
import {
  isRunning,
  type MeshStepParts,
  type MeshWork,
  meshStep,
  outsideGroup,
  placementAddress,
  type RankState,
  rankPatch,
  scriptAct,
} from './rank-states.ts';
import type { Mesh } from './read-mesh.ts';

/**
 * The dead ranks of a partial mesh that can be started again while the others run: all ranks come from one start with
 * the file's settings, and launchd still has every dead rank loaded. Empty if the whole mesh must be started from
 * scratch.
 * @param configured for the running generation
 */
export function ranksToRestart(mesh: Mesh, configured: Configured): readonly RankConfiguration[] {
  const dead: RankConfiguration[] = [];
  for (const [index, { seen }] of mesh.ranks.entries()) {
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
 * Starts the dead ranks again in the running generation, waits until all have joined, and asks for a token. launchd may
 * delay a rank that it started seconds ago and shows it as exited until then, so only the exit of another rank ends the
 * wait.
 * @see launchd.plist(5): ThrottleInterval
 */
export const restartRanks = (start: Omit<MeshStart, 'watched'>, dead: readonly RankConfiguration[]): readonly Step[] =>
  kickRanks(
    { ...start, watched: start.ranks.filter((rank) => !dead.includes(rank)) },
    [{ ranks: dead, until: 'joined' }],
    [],
  );

/** launchd refuses a service file that others can write to. @see launchd.plist(5) */
const serviceFileMode = 0o644;
const putDeadlineMs = 30_000;
const bootstrapDeadlineMs = 60_000;
const readyDeadlineMs = 30_000;

/** Writes the ranks' files and service files for the next start: a running rank has already read its files. */
export const putServices = (work: MeshWork, ranks: readonly RankConfiguration[]): readonly Step[] =>
  ranks.flatMap((rank) => [
    ...rank.files
      .filter((file) => file.kind === 'file')
      .map(({ name, content }) => putOf(work, rank.node, `put/${name}`, rankFile(work.placement, name), content)),
    putService(work, rank),
  ]);

export const putService = (work: MeshWork, { node, service }: Pick<RankConfiguration, 'node' | 'service'>): Step =>
  putOf(work, node, 'put-service', serviceFile(work.placement), service);

/** Outside the group: if the write fails, nothing was stopped yet, and the group's rescue would stop a serving mesh. */
const putOf = (work: MeshWork, node: NodeName, verb: string, path: NodePath, content: Text): Step =>
  meshStep(outsideGroup(work), {
    node,
    verb,
    act: { kind: 'put', path, mode: serviceFileMode, content },
    deadlineMs: putDeadlineMs,
  });

/** Without a new byte in its folder or its output for this long, a preparation counts as stuck. */
const prepareDeadlineMs = 1_800_000;

/**
 * Adds the preparations of the next start, before anything is stopped: a failure leaves the running mesh as it is.
 * @param needs steps that must end before
 */
export const prepareRanks = (
  work: MeshWork,
  ranks: readonly RankConfiguration[],
  needs: readonly Step[],
): readonly Step[] => [
  ...needs,
  ...ranks.flatMap(({ node, prepare }) =>
    prepare === undefined
      ? []
      : meshStep(outsideGroup(work), {
          node,
          verb: 'prepare',
          act: { kind: 'job', key: prepare.key, name: 'prepare-rank', args: prepare },
          needs,
          deadlineMs: prepareDeadlineMs,
        }),
  ),
];

/**
 * Makes every rank ready before it starts any of them, starts them in order, and asks for a token.
 * @param needs steps that must end before a rank is made ready
 */
export function startMesh(
  parts: Omit<MeshStart, 'watched'>,
  waves: readonly StartWave[],
  needs: readonly Step[],
): readonly Step[] {
  const start: MeshStart = { ...parts, watched: parts.ranks };
  const bootstraps = start.ranks.map((rank) => bootstrapRank(start.work, rank, needs));
  const ready = rankGate(start, start.ranks, 'ready', {
    verb: 'ready',
    needs: bootstraps,
    deadlineMs: readyDeadlineMs,
  });
  return [...bootstraps, ready, ...kickRanks(start, wavesOf(start.ranks, waves), [ready])];
}

const bootstrapRank = (
  work: MeshWork,
  { node, record, request, user, files, prepare }: RankConfiguration,
  needs: readonly Step[],
): Step =>
  meshStep(work, {
    node,
    verb: 'bootstrap',
    act: scriptAct({
      name: 'bootstrap-rank',
      args: { record, request, user, ...filesOf(files), ...given({ job: prepare?.key }) },
    }),
    needs,
    effect: startEffect(work),
    establishes: [rankPatch(work.placement, node, { generation: record.generation, state: 'ready' })],
    deadlineMs: bootstrapDeadlineMs,
  });

const filesOf = (all: readonly RankFile[]) => ({
  files: all.flatMap((file) => (file.kind === 'file' ? [file.name] : [])),
  links: all.flatMap((file) => (file.kind === 'link' ? [{ name: file.name, to: file.to }] : [])),
  folders: all.flatMap((file) => (file.kind === 'folder' ? [{ name: file.name, keeps: file.keeps }] : [])),
  prepared: all.flatMap((file) => (file.kind === 'prepared' ? [file.name] : [])),
});

function wavesOf(ranks: readonly RankConfiguration[], waves: readonly StartWave[]): readonly Wave[] {
  const [leader, ...followers] = ranks;
  const ranksOf = { all: ranks, leader: leader === undefined ? [] : [leader], followers };
  return waves
    .map((wave) => ({ ranks: ranksOf[wave.ranks], until: wave.until }))
    .filter((wave) => wave.ranks.length > 0);
}

const kickDeadlineMs = 30_000;

/** Time for a few dozen tokens: a mesh slower than one token in three seconds is useless. */
const answerDeadlineMs = 100_000;

export interface MeshStart {
  readonly work: MeshWork;
  readonly digest: Digest;
  /** All ranks in order, with their current or next generation; at least one. */
  readonly ranks: readonly RankConfiguration[];
  /** Ranks whose exit ends a wait immediately. */
  readonly watched: readonly RankConfiguration[];
  readonly transport: 'rdma' | 'tcp';
  readonly pastBudget?: readonly NodeName[];
  /** Set if the last start in this boot session used TCP although the file says rdma. */
  readonly lastTalked?: 'tcp';
  /** The deadline for each wave to join, and for the token after the last wave. */
  readonly deadline: StartDeadline;
  readonly dialogue?: StartDialogue;
  /** The key of the golden answer, and the stored answer to compare with. */
  readonly proof: MeshProof;
}

export type MeshProof = Pick<Extract<Act, { kind: 'prove' }>, 'key' | 'kept' | 'keptPerSecond' | 'tokensPerSecond'>;

const patienceOf = ({ work: { placement }, deadline: { stallMs } }: MeshStart): Patience => ({ placement, stallMs });

const startEffect = ({ placement }: MeshWork): Effect => ({ kind: 'start', placement });

interface Wave {
  readonly ranks: readonly RankConfiguration[];
  readonly until: 'meeting' | 'joined';
}

/**
 * Starts ready ranks wave by wave: the ranks of one wave in parallel, the next wave once this one is meeting or has
 * joined. After the last wave, every rank must have joined, and the endpoint must return a token.
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

/**
 * Lets a runtime that has dropped its instance of the placement create it again, while its processes run on. Each rank
 * counts it like a start, because its runner opens the RDMA devices again.
 */
export function createInstance(start: MeshStart & Required<Pick<MeshStart, 'dialogue'>>): readonly Step[] {
  const counts = start.ranks.map((rank) => kickRank(start, rank, [], 'count'));
  return [...counts, ...kickRanks(start, [], counts)];
}

const kickRank = (
  { work, transport, lastTalked, deadline, pastBudget = [] }: MeshStart,
  { node, record, user, takesOfDevice }: RankConfiguration,
  needs: readonly Step[],
  verb: 'kick' | 'count' = 'kick',
): Step =>
  meshStep(work, {
    node,
    verb,
    act: scriptAct({
      name: 'kick-rank',
      args: {
        placement: work.placement,
        generation: record.generation,
        ...(user === '' ? {} : { user }),
        transport,
        startMs: deadline.boundMs,
        ...given({ lastTalked, takes: takesOfDevice, isReload: verb === 'count' ? (true as const) : undefined }),
      },
    }),
    needs,
    effect: pastBudget.includes(node) ? { kind: 'rdma-start', placement: work.placement } : startEffect(work),
    deadlineMs: kickDeadlineMs,
  });

/** Waits on the leader's node until these ranks reach a state; the exit of a watched rank ends the wait. */
function rankGate(
  { work, ranks: all, watched }: MeshStart,
  ranks: readonly RankConfiguration[],
  state: RankState,
  { patience, ...rest }: Pick<MeshStepParts, 'verb' | 'needs' | 'deadlineMs'> & { readonly patience?: Patience },
): Step {
  const patches = (of: readonly RankConfiguration[], seen: RankState): readonly Patch[] =>
    of.map(({ node, record: { generation } }) => rankPatch(work.placement, node, { generation, state: seen }));
  const act: Act = {
    kind: 'gate',
    expect: patches(ranks, state),
    aborts: patches(watched, 'exited'),
    ...given({ patience }),
  };
  return meshStep(work, { node: leaderOf(all).node, act, ...rest });
}

/** The limit for all waves together, by the bytes to load. Each wave has another deadline, which progress renews. */
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

/** Asks the golden question after the token if an answer can be compared or a speed is expected. */
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

interface StartDeadline {
  /** The longest time without progress. */
  readonly stallMs: number;
  /** The limit for a start that keeps making progress. */
  readonly boundMs: number;
}

/** The speed of the slowest disk or cable that a model is read from: a tenth of a Mac Studio's internal disk. */
const bytesPerSecond = 500_000_000;

/** Loading may take this many times the reading time, plus a fixed time. @see docs/mesh.md */
const timesReading = 3;
const onTopMs = 120_000;

/** Memory changes by this much without any work. */
const leastGrowthBytes = 1_048_576;

/** The deadlines of a start: without progress the file's time for the first token, with it the loading time. */
export function startDeadline({ files }: Pick<DesiredModel, 'files'>, firstTokenMs: number): StartDeadline {
  const bytes = files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  const readingMs = Math.ceil((bytes / bytesPerSecond) * 1_000);
  return { stallMs: firstTokenMs, boundMs: firstTokenMs + timesReading * readingMs + onTopMs };
}

export const hasProgressed = (before: RankProgress, now: RankProgress): boolean =>
  now.residentBytes > before.residentBytes + leastGrowthBytes || now.logBytes > before.logBytes;

export const furthest = (before: RankProgress, now: RankProgress): RankProgress => ({
  residentBytes: Math.max(before.residentBytes, now.residentBytes),
  logBytes: Math.max(before.logBytes, now.logBytes),
});
