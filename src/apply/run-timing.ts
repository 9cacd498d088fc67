import { setTimeout as sleep } from 'node:timers/promises';
import { forMany } from '../remote/on-abort.ts';

/** Waits until the time has passed or the signal aborts; never rejects. */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  await sleep(ms, undefined, signal ? { signal: forMany(signal) } : {}).catch(() => undefined);
}

/** A run's waits in ms: first for real Macs, then the minimum for simulated Macs with faster clocks. */
const waits = {
  /** Between two lease heartbeats. */
  heartbeatMs: [5_000, 2_000],
  /** A lease has expired if its heartbeat has not changed for this long, by the waiting run's clock. */
  leaseExpiryMs: [30_000, 20_000],
  /** When a node rolls an unconfirmed change back: before a lease expires, so the next run finds the old network. */
  rollbackAfterMs: [20_000, 15_000],
  /** How long to wait for a script that is still running under an expired lease. */
  busyMs: [120_000, 20_000],
  /** Between two checks of another run's lease. */
  leaseLookMs: [2_000, 400],
  /** Between two observations by a gate. */
  gatePollMs: [1_000, 500],
  /** Between two checks of `status --watch`. */
  watchMs: [5_000, 1_000],
  /** Between two tokens that `status --watch` requests from a placement. */
  watchTokenMs: [60_000, 3_000],
  /** Between two polls of a job. */
  jobPollMs: [1_000, 200],
  /** Before the first retry of a step; later pauses are longer. */
  retryMs: [2_000, 50],
  /** Between two password attempts at FileVault. */
  unlockPauseMs: [15_000, 200],
  /** From sending the password until the Mac can be observed, including a disk check. */
  unlockReturnMs: [600_000, 20_000],
  /** How long to wait for running scripts after a signal. */
  abortMs: [10_000, 5_000],
  /** The minimum time without progress before a joining rank is given up, whatever token deadline the file sets. */
  gateStallMs: [120_000, 20_000],
  /** The same for the first token after loading, because code may have to be compiled first. */
  tokenStallMs: [300_000, 30_000],
} as const satisfies Readonly<Record<string, readonly [realMs: number, atLeastMs: number]>>;

type Waits = { readonly [K in keyof typeof waits]: number };

/** All times of a run. Steps have their own deadlines, which `scale` multiplies. */
export interface RunTiming extends Waits {
  /** See {@link rebootPauseMs}. */
  readonly rebootPausesMs: readonly number[];
  /** From the restart command until macOS begins to shut down. */
  readonly rebootDelaySeconds: number;
  /** The factor for step deadlines. */
  readonly scale: number;
  /** The factor for a dialogue's polling intervals and waits. */
  readonly talkScale: number;
}

/** Programs on simulated Macs run at this computer's speed, no matter how fast their clocks are. */
const leastTalkScale = 0.1;

/** The times for Macs with faster clocks. Scripts and connections keep minimums: they run at this computer's speed. */
export function scaledTiming(scale: number): RunTiming {
  const scaled = ([ms, atLeastMs]: readonly [number, number]): number => Math.round(timeFor(ms, { scale }, atLeastMs));
  const names = Object.keys(waits) as (keyof typeof waits)[];
  return {
    ...(Object.fromEntries(names.map((name) => [name, scaled(waits[name])])) as Waits),
    rebootPausesMs: [5_000, 7_000, 10_000, 15_000].map((ms) => scaled([ms, 100])),
    rebootDelaySeconds: 2 * scale,
    scale,
    talkScale: Math.max(scale, leastTalkScale),
  };
}

/** A deadline scaled to the run's clock, with a minimum because commands run at this computer's speed. */
export const timeFor = (deadlineMs: number, { scale }: Pick<RunTiming, 'scale'>, atLeastMs: number): number =>
  Math.max(Math.min(deadlineMs, atLeastMs), deadlineMs * scale);

/** The pause before an attempt to reach a restarting Mac, numbered from 0; the last pause repeats. */
export const rebootPauseMs = ({ rebootPausesMs }: RunTiming, attempt: number): number =>
  rebootPausesMs[Math.min(attempt, rebootPausesMs.length - 1)] ?? 0;

export const realTiming = scaledTiming(1);
