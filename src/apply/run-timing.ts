import { setTimeout as sleep } from 'node:timers/promises';
import { forMany } from '../remote/on-abort.ts';

/** Waits so long, or until the signal comes; never rejects. */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  await sleep(ms, undefined, signal ? { signal: forMany(signal) } : {}).catch(() => undefined);
}
/** Every time of a run, in milliseconds. Steps bring their own deadlines, which `scale` multiplies. */
export interface RunTiming {
  /** Between two renewals of a lease. */
  readonly beatMs: number;
  /** A lease whose beat did not change for so long, by the clock of the one who waits for it, is nobody's any more. */
  readonly leaseExpiryMs: number;
  /**
   * A change of the network that is not confirmed within so long is taken back by the node. Shorter than the life of a
   * lease: who comes after a run that died finds the network as it was before.
   */
  readonly rollbackAfterMs: number;
  /** How long a script is waited for that still runs under a lease which nobody renews any more. */
  readonly busyMs: number;
  /** Between two looks at somebody else's lease. */
  readonly leaseLookMs: number;
  /** Between two observations of a gate. */
  readonly gatePollMs: number;
  /** Between two looks at a job. */
  readonly jobPollMs: number;
  /** Between two attempts of a step that may be made again; longer from one to the next. */
  readonly retryMs: number;
  /** Pauses before the attempts to reach a Mac that restarts; the last one repeats. */
  readonly rebootPausesMs: readonly number[];
  /** From the command to restart to the moment at which macOS begins to go down. */
  readonly rebootDelaySeconds: number;
  /** Between two passwords that the sshd before FileVault is given. */
  readonly unlockPauseMs: number;
  /** From the password to a Mac that can be observed; it checks its disk where it must. */
  readonly unlockReturnMs: number;
  /** How long scripts that run are awaited after a signal. */
  readonly interruptMs: number;
  /** Without any progress a rank that joins is waited for so long at least, whatever the file expects of a token. */
  readonly gateStallMs: number;
  /** The same for the first token after a load, which compiles the first time. */
  readonly tokenStallMs: number;
  /** Factor for the deadlines of steps. */
  readonly scale: number;
  /** Factor for everything that a dialogue counts: how often it looks, and how long it waits for what it sees. */
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

/** What runs on simulated Macs answers as this computer lets it, however quick their clocks are. */
const leastTalkScale = 0.1;

/**
 * The times for simulated Macs whose clocks run faster: what waits for a Mac is multiplied. The scripts themselves and
 * the connections are as slow as this computer, so that nothing that waits for them becomes shorter than they may take.
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

/** A deadline in the time of this run; looks and commands take as long as this computer, whatever the clocks of simulated Macs do. */
export const timeFor = (deadlineMs: number, { scale }: Pick<RunTiming, 'scale'>, atLeastMs: number): number =>
  Math.max(Math.min(deadlineMs, atLeastMs), deadlineMs * scale);
