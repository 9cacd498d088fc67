import { setTimeout as sleep } from 'node:timers/promises';
import { forMany } from '../remote/on-abort.ts';

/** Waits until the time is over or the signal aborts; never rejects. */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  await sleep(ms, undefined, signal ? { signal: forMany(signal) } : {}).catch(() => undefined);
}
/** All times of a run, in ms. Steps have their own deadlines, which `scale` multiplies. */
export interface RunTiming {
  /** Between two heartbeats of a lease. */
  readonly beatMs: number;
  /** A lease has expired if its heartbeat did not change for this long, by the clock of the waiting run. */
  readonly leaseExpiryMs: number;
  /**
   * The node rolls back a network change that is not confirmed in this time. Shorter than a lease's expiry, so that the
   * run after a dead one finds the old network.
   */
  readonly rollbackAfterMs: number;
  /** How long to wait for a script that still runs under an expired lease. */
  readonly busyMs: number;
  /** Between two checks of another run's lease. */
  readonly leaseLookMs: number;
  /** Between two observations of a gate. */
  readonly gatePollMs: number;
  /** Between two polls of a job. */
  readonly jobPollMs: number;
  /** Before the first retry of a step; later pauses are longer. */
  readonly retryMs: number;
  /** Pauses before the attempts to reach a restarting Mac; the last one repeats. */
  readonly rebootPausesMs: readonly number[];
  /** From the restart command until macOS begins to shut down. */
  readonly rebootDelaySeconds: number;
  /** Between two password attempts at FileVault. */
  readonly unlockPauseMs: number;
  /** From the password until the Mac can be observed, including a disk check. */
  readonly unlockReturnMs: number;
  /** How long to wait for running scripts after a signal. */
  readonly interruptMs: number;
  /** Minimum time without progress before giving up on a joining rank, whatever the file's token deadline. */
  readonly gateStallMs: number;
  /** The same for the first token after a load, which may compile first. */
  readonly tokenStallMs: number;
  /** Factor for the deadlines of steps. */
  readonly scale: number;
  /** Factor for a dialogue's polling intervals and waits. */
  readonly talkScale: number;
}

/** The times for real Macs. */
export const realTiming: RunTiming = {
  beatMs: 5_000,
  leaseExpiryMs: 30_000,
  rollbackAfterMs: 20_000,
  busyMs: 120_000,
  leaseLookMs: 2_000,
  gatePollMs: 1_000,
  jobPollMs: 1_000,
  retryMs: 2_000,
  rebootPausesMs: [5_000, 7_000, 10_000, 15_000],
  rebootDelaySeconds: 2,
  unlockPauseMs: 15_000,
  unlockReturnMs: 600_000,
  interruptMs: 10_000,
  gateStallMs: 120_000,
  tokenStallMs: 300_000,
  scale: 1,
  talkScale: 1,
};

/** Programs on simulated Macs run at this computer's speed, however fast their clocks are. */
const leastTalkScale = 0.1;

/**
 * The times for simulated Macs with faster clocks: scales every wait for a Mac. Scripts and connections run at this
 * computer's speed, so waits for them have minimums.
 */
export function scaledTiming(factor: number): RunTiming {
  const scaled = (ms: number, atLeastMs = 1): number => Math.max(Math.min(ms, atLeastMs), Math.round(ms * factor));
  return {
    beatMs: scaled(realTiming.beatMs, 500),
    leaseExpiryMs: scaled(realTiming.leaseExpiryMs, 20_000),
    rollbackAfterMs: scaled(realTiming.rollbackAfterMs, 15_000),
    busyMs: scaled(realTiming.busyMs, 20_000),
    leaseLookMs: scaled(realTiming.leaseLookMs, 400),
    gatePollMs: scaled(realTiming.gatePollMs, 500),
    jobPollMs: scaled(realTiming.jobPollMs, 200),
    retryMs: scaled(realTiming.retryMs, 50),
    rebootPausesMs: realTiming.rebootPausesMs.map((ms) => scaled(ms, 100)),
    rebootDelaySeconds: realTiming.rebootDelaySeconds * factor,
    unlockPauseMs: scaled(realTiming.unlockPauseMs, 200),
    unlockReturnMs: scaled(realTiming.unlockReturnMs, 20_000),
    interruptMs: scaled(realTiming.interruptMs, 5_000),
    gateStallMs: scaled(realTiming.gateStallMs, 20_000),
    tokenStallMs: scaled(realTiming.tokenStallMs, 30_000),
    scale: factor,
    talkScale: Math.max(factor, leastTalkScale),
  };
}

/** A deadline scaled to the run's clock, with a minimum because commands run at this computer's speed. */
export const timeFor = (deadlineMs: number, { scale }: Pick<RunTiming, 'scale'>, atLeastMs: number): number =>
  Math.max(Math.min(deadlineMs, atLeastMs), deadlineMs * scale);
