import { type Transfer, transferOf } from '../../engine/plan/transfers.ts';
import { given } from '../../model/given.ts';
import type { NodeName } from '../../model/node.ts';
import type { Activity, Step, StepId } from '../../model/step.ts';
import type { RunEvent } from '../run-events.ts';

interface TrackedStep extends Transfer {
  readonly node: NodeName;
  readonly state: 'waiting' | 'running' | 'ended';
  /** At most `bytes`. */
  readonly doneBytes: number;
  /** Of `doneBytes`, those that were on the node before the step; they do not count in the rate. */
  readonly keptBytes: number;
  readonly activity?: Activity;
  /** While waiting: the time of day at which the download continues. */
  readonly until?: string;
  /** The nodes that the last bytes came from, and those that this node serves. */
  readonly sources?: readonly NodeName[];
  readonly feeds?: readonly NodeName[];
}

interface Sample {
  readonly atMs: number;
  readonly bytes: number;
}

/** A node's recent samples since its current transfer began; empty between transfers. */
interface NodeSamples {
  readonly samples: readonly Sample[];
  /** When bytes last arrived. */
  readonly movedAtMs: number;
}

export interface Transfers {
  readonly steps: ReadonlyMap<StepId, TrackedStep>;
  readonly nodes: ReadonlyMap<NodeName, NodeSamples>;
}

export const transfersIn = (steps: readonly Step[]): Transfers => ({
  steps: new Map(
    steps.flatMap((step): readonly [StepId, TrackedStep][] => {
      const transfer = transferOf(step);
      if (transfer === undefined || transfer.bytes === 0) return [];
      return [[step.id, { ...transfer, node: step.node, state: 'waiting', doneBytes: 0, keptBytes: 0 }]];
    }),
  ),
  nodes: new Map(),
});

/** The transfers after an event; the same object if it concerns none of them. All times must come from one clock. */
export function transfersAfter(before: Transfers, event: RunEvent, atMs: number): Transfers {
  const id = event.kind === 'step-progress' ? event.step : 'step' in event ? event.step.id : undefined;
  const step = id === undefined ? undefined : before.steps.get(id);
  if (id === undefined || step === undefined) return before;
  const next = stepAfter(step, event);
  const steps = new Map([...before.steps, [id, next]]);
  const samples = samplesAfter(before, steps, next.node, atMs);
  return { steps, nodes: new Map([...before.nodes, [next.node, samples]]) };
}

function stepAfter(step: TrackedStep, event: RunEvent): TrackedStep {
  switch (event.kind) {
    case 'step-started':
      return { ...step, state: 'running' };
    case 'step-progress': {
      const { activity: _a, until: _u, sources: _s, feeds: _f, ...rest } = step;
      const doneBytes = Math.min(step.bytes, event.doneBytes ?? step.doneBytes);
      const keptBytes = Math.min(doneBytes, event.keptBytes ?? step.keptBytes);
      const { activity, until, sources, feeds } = event;
      return { ...rest, doneBytes, keptBytes, ...given({ activity, until, sources, feeds }) };
    }
    case 'step-ended':
      return endedStep(step, event.outcome);
    default:
      return step;
  }
}

/**
 * A send that changed something has sent everything beyond its last report. A job may have found any of these bytes on
 * the node, so they do not count in the rate.
 */
function endedStep(step: TrackedStep, outcome: Extract<RunEvent, { kind: 'step-ended' }>['outcome']): TrackedStep {
  const { activity: _a, until: _u, sources: _s, feeds: _f, ...ended } = { ...step, state: 'ended' as const };
  if (outcome !== 'changed' && outcome !== 'unchanged') return ended;
  const isSent = outcome === 'changed' && step.from === 'controller';
  const unreported = isSent ? 0 : step.bytes - step.doneBytes;
  return { ...ended, doneBytes: step.bytes, keptBytes: step.keptBytes + unreported };
}

/** The rate is measured over this time, or since the current transfer began. */
const windowMs = 60_000;

type Steps = Transfers['steps'];

const stepsOn = (steps: Steps, node: NodeName): readonly TrackedStep[] =>
  [...steps.values()].filter((step) => step.node === node);

const sum = (steps: readonly TrackedStep[], of: (step: TrackedStep) => number): number =>
  steps.reduce((total, step) => total + of(step), 0);

const isMoving = ({ from, state }: TrackedStep): boolean => from !== 'staged' && state === 'running';

/** The steps that a node's progress describes: its transfers, or the comparison that follows them. */
function shownSteps(steps: Steps, node: NodeName): readonly TrackedStep[] {
  const all = stepsOn(steps, node);
  const comparing = all.filter(({ from, state }) => from === 'staged' && state === 'running');
  if (comparing.length > 0 && !all.some(isMoving)) return comparing;
  return all.filter(({ from }) => from !== 'staged');
}

const arrived = (steps: readonly TrackedStep[]): number =>
  sum(steps, ({ doneBytes, keptBytes }) => doneBytes - keptBytes);

const isRunning = ({ state }: TrackedStep): boolean => state === 'running';

function samplesAfter(before: Transfers, steps: Steps, node: NodeName, atMs: number): NodeSamples {
  const shown = shownSteps(steps, node);
  const known = before.nodes.get(node);
  const nothing: NodeSamples = { samples: [], movedAtMs: atMs };
  if (!shown.some(isRunning)) return nothing;
  const sample = { atMs, bytes: arrived(shown) };
  const last = known?.samples.at(-1);
  // The first comparison after a transfer counts different bytes.
  const isOther = shownSteps(before.steps, node).some(({ from }) => from === 'staged') !== isComparing(shown);
  if (known === undefined || last === undefined || isOther) return { samples: [sample], movedAtMs: atMs };
  const recent = known.samples.filter((_, index, all) => (all[index + 1]?.atMs ?? atMs) > atMs - windowMs);
  return { samples: [...recent, sample], movedAtMs: sample.bytes > last.bytes ? atMs : known.movedAtMs };
}

const isComparing = (steps: readonly TrackedStep[]): boolean => steps.some(({ from }) => from === 'staged');

/** A rate over less time would say little. */
const leastRateMs = 3_000;

/** What the bytes pass through now, as far as it is known. */
export type Bound = 'controller' | 'uplink' | 'lan' | 'cables' | 'ssh' | 'disk' | 'hash';

/** The progress of a node's transfers, or of all nodes together. */
export interface TransferProgress {
  readonly doneBytes: number;
  readonly totalBytes: number;
  /** True while a transfer or a comparison is running. */
  readonly isRunning: boolean;
  /** True if the bytes are on the node already and are only compared. */
  readonly isComparing: boolean;
  /** Absent until it has been measured for a few seconds. */
  readonly bytesPerSecond?: number;
  /** Absent if the rate is unknown or zero. */
  readonly msLeft?: number;
  /** The time without a single byte, while bytes should arrive. */
  readonly stillMs?: number;
  /** The time of day, such as `22:00`, until which all downloads wait for their hours. */
  readonly waitsUntil?: string;
  /** For one node: the nodes that its last bytes came from. */
  readonly sources?: readonly NodeName[];
  /** For one complete node: the nodes that still need it. Empty if it waits for them to connect. */
  readonly feeds?: readonly NodeName[];
  readonly bounds: readonly Bound[];
}

/** A pause of this length is no longer normal. */
const stillFromMs = 15_000;

/** A node's progress at a time; undefined if the plan transfers nothing to it. */
export function nodeProgress({ steps, nodes }: Transfers, node: NodeName, nowMs: number): TransferProgress | undefined {
  const shown = shownSteps(steps, node);
  if (shown.length === 0) return undefined;
  const running = shown.filter(isRunning);
  const bounds = [...new Set(running.flatMap(boundOf))];
  const doneBytes = sum(shown, (step) => step.doneBytes);
  const totalBytes = sum(shown, (step) => step.bytes);
  const sources = namesIn(running, (step) => step.sources);
  const progress = {
    doneBytes,
    totalBytes,
    isRunning: running.length > 0,
    isComparing: isComparing(shown),
    bounds,
    ...(isServing(running) ? { feeds: namesIn(running, (step) => step.feeds) } : {}),
  };
  const { samples = [], movedAtMs = nowMs } = nodes.get(node) ?? {};
  const stillMs = nowMs - movedAtMs;
  if (running.length === 0 || doneBytes === totalBytes) return progress;
  const waitsUntil = waitOf(running);
  if (waitsUntil !== undefined) return { ...progress, waitsUntil };
  if (stillMs >= stillFromMs && !bounds.includes('hash')) return { ...progress, stillMs };
  const from = sources.length === 0 ? {} : { sources };
  const bytesPerSecond = rateOf(samples, arrived(shown), nowMs);
  if (bytesPerSecond === undefined) return { ...progress, ...from };
  return { ...progress, ...from, bytesPerSecond, ...leftAt(totalBytes - doneBytes, bytesPerSecond) };
}

/** True if a node only serves what it has. */
const isServing = (running: readonly TrackedStep[]): boolean =>
  running.length > 0 && running.every(({ activity }) => activity === 'serving');

/** Until when these transfers wait; undefined if one of them does not. */
function waitOf(running: readonly Pick<TrackedStep, 'until'>[]): string | undefined {
  const [{ until } = {}] = running;
  return running.every((one) => one.until !== undefined) ? until : undefined;
}

const namesIn = (
  steps: readonly TrackedStep[],
  of: (step: TrackedStep) => readonly NodeName[] | undefined,
): readonly NodeName[] => [...new Set(steps.flatMap((step) => of(step) ?? []))];

/** The average rate since the first sample in the window. */
function rateOf(samples: readonly Sample[], bytes: number, nowMs: number): number | undefined {
  const first = samples.findLast(({ atMs }) => atMs <= nowMs - windowMs) ?? samples[0];
  if (first === undefined || nowMs - first.atMs < leastRateMs) return undefined;
  return Math.max(0, ((bytes - first.bytes) * 1_000) / (nowMs - first.atMs));
}

const leftAt = (bytes: number, bytesPerSecond: number): { readonly msLeft?: number } =>
  bytesPerSecond <= 0 ? {} : { msLeft: (bytes * 1_000) / bytesPerSecond };

/** Nothing before a job's first report. A node that gets its bytes from no other node may download them itself. */
function boundOf({ from, activity, sources, doneBytes, bytes }: TrackedStep): readonly Bound[] {
  // The last files from other nodes are compared once all bytes have arrived.
  const isFromNodes = from === 'cables' || from === 'ssh';
  const isLastCompared = isFromNodes && activity === 'receiving' && doneBytes === bytes;
  if (activity === 'comparing' || from === 'staged' || isLastCompared) return ['hash'];
  if (from === 'controller') return ['controller'];
  if (activity !== 'receiving' || (isFromNodes && sources === undefined)) return [];
  return [from === 'node' ? 'disk' : from];
}

export const transferNodes = ({ steps }: Transfers): readonly NodeName[] => [
  ...new Set([...steps.values()].map(({ node }) => node)),
];

/**
 * The progress of all nodes together; undefined for fewer than two nodes. Nodes that only compare count with all their
 * bytes. The time left is unknown while that of a running node is.
 */
export function wholeProgress(transfers: Transfers, nowMs: number): TransferProgress | undefined {
  const names = transferNodes(transfers);
  const all = names.flatMap((node) => nodeProgress(transfers, node, nowMs) ?? []);
  if (all.length < 2) return undefined;
  const moved = [...transfers.steps.values()].filter(({ from }) => from !== 'staged');
  const doneBytes = sum(moved, (step) => step.doneBytes);
  const totalBytes = sum(moved, (step) => step.bytes);
  const running = all.filter((one) => one.isRunning && !one.isComparing && one.feeds === undefined);
  const progress = {
    doneBytes,
    totalBytes,
    isRunning: all.some((one) => one.isRunning),
    isComparing: false,
    bounds: wholeBounds(all),
  };
  const waitsUntil = waitOf(running.map((one) => given({ until: one.waitsUntil })));
  if (waitsUntil !== undefined) return { ...progress, waitsUntil };
  const rates = running.flatMap(({ bytesPerSecond }) => bytesPerSecond ?? []);
  if (rates.length === 0 || doneBytes === totalBytes) return progress;
  const bytesPerSecond = rates.reduce((total, rate) => total + rate, 0);
  const ends = running.flatMap(({ msLeft }) => msLeft ?? []);
  if (ends.length < running.length) return { ...progress, bytesPerSecond };
  const { msLeft = 0 } = leftAt(totalBytes - doneBytes, bytesPerSecond);
  return { ...progress, bytesPerSecond, msLeft: Math.max(msLeft, ...ends) };
}

/** Chunks arrive late by a few seconds, so that a node is a little slower than the one that it follows. */
const followsFrom = 0.8;

/**
 * What bounds all nodes together. The nodes that get a model from others cannot be faster than the one that downloads
 * it: while they keep up with it, the cables bound nothing.
 */
function wholeBounds(all: readonly TransferProgress[]): readonly Bound[] {
  const bounds = [...new Set(all.flatMap((one) => one.bounds))];
  const rates = (isIncluded: (bound: Bound) => boolean): readonly (number | undefined)[] =>
    all.filter((one) => one.bounds.some(isIncluded)).map(({ bytesPerSecond }) => bytesPerSecond);
  const isNetwork = (bound: Bound): boolean => bound === 'uplink' || bound === 'lan';
  const isCables = (bound: Bound): boolean => bound === 'cables' || bound === 'ssh';
  const [downloads, cables] = [rates(isNetwork), rates(isCables)];
  if (downloads.length === 0 || cables.length === 0 || [...downloads, ...cables].includes(undefined)) return bounds;
  const isFollowing = Math.min(...cables.map(Number)) >= followsFrom * Math.min(...downloads.map(Number));
  return bounds.filter((bound) => !(isFollowing ? isCables : isNetwork)(bound));
}
