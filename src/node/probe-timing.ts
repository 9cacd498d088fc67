import type { Probe } from '../model/probe.ts';

/**
 * A probe at its deadline gets ALRM and, this much later, KILL. It is ALRM, and not TERM, because the main shell has a
 * trap for TERM: a child that has been forked and has not yet put back its parent's signals would lose a TERM (dash),
 * or run the trap as if it were the main shell (bash). For the same reason there is no trap on EXIT: with one, bash
 * catches every signal that ends a process, and such a child removes the folder of the others (seen in 1 of 20 runs).
 */
export const graceSeconds = 1;
/** What is timed: probes with their own deadlines, and how long all of them together may take. */
export interface TimingRequest {
  readonly probes: readonly Probe[];
  /**
   * When all frames have been printed, in milliseconds from the start, whatever hangs: probes with later deadlines
   * end earlier. Counted in whole seconds from 4 s on and in half seconds below, so that the few milliseconds by which
   * two connections differ change no byte. Without it every probe has its own deadline.
   */
  readonly budgetMs?: number;
}

/** One moment of the watchdog: so long after the start, this signal to these probes (counted from 1). */
export interface Moment {
  readonly atMs: number;
  readonly signal: 'ALRM' | 'KILL';
  readonly ids: readonly number[];
}

/** When what is done to probes that do not end. */
export interface ProbeTiming {
  readonly moments: readonly Moment[];
  /** From ALRM to KILL, and between two interruptions of the wait; half of the time from the last KILL to the first. */
  readonly unitMs: number;
}

/** After the last KILL: two until probes that still live are given up (the kernel may hold them), one for the second tick. */
const unitsAfterKill = 3;
/** KILL comes one unit after ALRM; and one more for a slow node to start what it is asked and to print the frames. */
const unitsAfterDeadline = unitsAfterKill + 2;
/** How often the watchdog interrupts a wait at most: two ticks are needed, the others are for a lost race. */
export const ticks = 20;

const coarseFromMs = 4_000;
const atLeastMs = 500;

/** A tenth of a second is the shortest that is counted: sleep(1) of macOS takes fractions. */
const tenths = (ms: number): number => Math.floor(ms / 100) * 100;

/** Deadlines in whole seconds and units of one, unless the budget is too small for them: then both shrink with it. */
export function probeTiming({ probes, budgetMs }: TimingRequest): ProbeTiming {
  const step = budgetMs !== undefined && budgetMs < coarseFromMs ? 500 : 1_000;
  const budget =
    budgetMs === undefined ? Number.POSITIVE_INFINITY : Math.max(atLeastMs, Math.floor(budgetMs / step) * step);
  const unitMs = Math.max(100, Math.min(graceSeconds * 1_000, tenths(budget / 20)));
  const latest = Math.max(100, budget - unitsAfterDeadline * unitMs);
  const deadlines = probes.map((probe) => Math.min(Math.max(1, Math.ceil(probe.deadlineMs / 1_000)) * 1_000, latest));
  const moments = [...new Set(deadlines)].flatMap((atMs): Moment[] => {
    const ids = deadlines.flatMap((other, at) => (other === atMs ? [at + 1] : []));
    return [
      { atMs, signal: 'ALRM', ids },
      { atMs: atMs + unitMs, signal: 'KILL', ids },
    ];
  });
  return { moments: moments.sort((a, b) => a.atMs - b.atMs), unitMs };
}

/**
 * How long an observation can last on a node whose tools all hang, in milliseconds. A controller that waits this long
 * and a round trip more never cuts off an answer.
 */
export function observationCeilingMs(request: TimingRequest): number {
  const { unitMs, moments } = probeTiming(request);
  return (moments.at(-1)?.atMs ?? 0) + unitsAfterKill * unitMs;
}
