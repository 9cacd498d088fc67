import { setTimeout as sleep } from 'node:timers/promises';
import { forMany } from '../remote/on-abort.ts';

/** Waits until the time is over or the signal aborts; never rejects. */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  await sleep(ms, undefined, signal ? { signal: forMany(signal) } : {}).catch(() => undefined);
}

/** The waits of a run in ms: for real Macs, and the minimum for simulated Macs with faster clocks. */
const waits = {
  /** Between two heartbeats of a lease. */
  heartbeatMs: [5_000, 2_000],
  /** A lease has expired if its heartbeat did not change for this long, by the clock of the waiting run. */
  leaseExpiryMs: [30_000, 20_000],
  /**
   * The node rolls back a network change that is not confirmed in this time. Shorter than a lease's expiry, so that the
   * run after a dead one finds the old network.
   */
  rollbackAfterMs: [20_000, 15_000],
  /** How long to wait for a script that still runs under an expired lease. */
  busyMs: [120_000, 20_000],
  /** Between two checks of another run's lease. */
  leaseLookMs: [2_000, 400],
  /** Between two observations of a gate. */
  gatePollMs: [1_000, 500],
  /** Between two polls of a job. */
  jobPollMs: [1_000, 200],
  /** Before the first retry of a step; later pauses are longer. */
  retryMs: [2_000, 50],
  /** Between two password attempts at FileVault. */
  unlockPauseMs: [15_000, 200],
  /** From the password until the Mac can be observed, including a disk check. */
  unlockReturnMs: [600_000, 20_000],
  /** How long to wait for running scripts after a signal. */
  abortMs: [10_000, 5_000],
  /** Minimum time without progress before giving up on a joining rank, whatever the file's token deadline. */
  gateStallMs: [120_000, 20_000],
  /** The same for the first token after a load, when code may have to be compiled first. */
  tokenStallMs: [300_000, 30_000],
} as const satisfies Readonly<Record<string, readonly [realMs: number, atLeastMs: number]>>;

type Waits = { readonly [K in keyof typeof waits]: number };

/** All times of a run. Steps have their own deadlines, which `scale` multiplies. */
export interface RunTiming extends Waits {
  /** Pauses before the attempts to reach a restarting Mac; the last one repeats. */
  readonly rebootPausesMs: readonly number[];
  /** From the restart command until macOS begins to shut down. */
  readonly rebootDelaySeconds: number;
  /** Factor for the deadlines of steps. */
  readonly scale: number;
  /** Factor for a dialogue's polling intervals and waits. */
  readonly talkScale: number;
}

/** Programs on simulated Macs run at this computer's speed, however fast their clocks are. */
const leastTalkScale = 0.1;

/**
 * The times for simulated Macs with faster clocks: scales every wait for a Mac. Scripts and connections run at this
 * computer's speed, so waits for them have minimums.
 */
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

/** The times for real Macs. */
export const realTiming = scaledTiming(1);
