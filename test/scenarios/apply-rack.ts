import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import type { Journal, JournalEntry } from '../../src/apply/journal/journal.ts';
import type { Controller } from '../../src/apply/lease/controller.ts';
import type { RunOptions } from '../../src/apply/open-run.ts';
import type { RunEvent } from '../../src/apply/run-events.ts';
import { type RunTiming, realTiming } from '../../src/apply/run-timing.ts';
import type { Plan, Rescue } from '../../src/engine/plan/plan.ts';
import type { Step } from '../../src/model/step.ts';
import { startFleet } from '../../src/sim/hosts/control/start-fleet.ts';
import { emptyPlan } from '../rack/plans.ts';
import { desiredRack } from '../rack/rack.ts';
import { type RunningRack, startRack } from '../rack/running.ts';

/** Starts four Studios. One of their seconds takes `clockFactor` real seconds. */
export const startApplyRack = (seed: string, clockFactor = 1 / 20): Promise<RunningRack> =>
  startRack(startFleet, { desired: desiredRack, seed, clockFactor });

/** Ten years, in seconds. */
export const tenYears = 315_360_000;

/** Sets the clock of a node this many seconds ahead. */
export const setClock = ({ fleet }: RunningRack, node: string, seconds: number): void =>
  writeFileSync(`${fleet.nodes[node]?.root}/.sim/clock-offset`, `${seconds}\n`);

/**
 * Real times, except those that a test would wait for. A heartbeat costs as much as a step, so only some tests shorten
 * its interval.
 */
export const quickTiming: RunTiming = {
  ...realTiming,
  heartbeatMs: 1_000,
  leaseExpiryMs: 6_000,
  busyMs: 20_000,
  leaseLookMs: 250,
  gatePollMs: 250,
  jobPollMs: 150,
  retryMs: 20,
  rebootPausesMs: [50, 100, 200],
  rebootDelaySeconds: 0.1,
  abortMs: 2_000,
  gateStallMs: 0,
  tokenStallMs: 0,
  talkScale: 1 / 4,
};

/** A controller on a different computer. Its process lives as long as the test. */
export const controller = (id = '0123456789ab', pid = process.pid): Controller => ({
  id,
  name: `ana@desk-${id.slice(0, 2)}`,
  pid,
  pidStart: 'unknown',
});

/** A journal in memory. `before` is called before each record is kept, and may throw. */
export interface KeptJournal extends Journal {
  readonly entries: readonly JournalEntry[];
}

/** A journal that keeps its records in memory. */
export function keptJournal(
  runId = `run-${randomBytes(3).toString('hex')}`,
  before?: (entry: JournalEntry) => void,
): KeptJournal {
  const entries: JournalEntry[] = [];
  return {
    runId,
    entries,
    write: (entry) => {
      before?.(entry);
      entries.push(entry);
    },
    close: () => undefined,
  };
}

/** The options of a run in tests. */
export function runOptions(
  rack: RunningRack,
  more: Partial<RunOptions> & { readonly events?: RunEvent[] } = {},
): RunOptions {
  const { events, ...options } = more;
  return {
    ways: rack.desired.nodes.map(({ name }) => rack.way(name)),
    desired: rack.desired,
    verb: 'apply',
    controller: controller(),
    journal: keptJournal(),
    parallel: 16,
    newBoundary: () => randomBytes(16).toString('hex'),
    timing: quickTiming,
    leaseWaitMs: 0,
    deadlineMs: 20_000,
    onEvent: (event) => void events?.push(event),
    ...options,
  };
}

/** A plan with only these steps. */
export const planOf = (steps: readonly Step[], rescues: readonly Rescue[] = []): Plan =>
  emptyPlan({ observed: {}, steps, rescues });
