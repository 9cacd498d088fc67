import { setTimeout as sleep } from 'node:timers/promises';
import { type ExecuteOptions, executeSteps, type StepResult, type StepStart } from '../../../src/apply/execute.ts';
import type { Rescue, StepReport } from '../../../src/engine/plan/plan.ts';
import type { Step, StepOutcome } from '../../../src/model/step.ts';

/** The options of `play`. */
export interface Play {
  readonly options?: Partial<ExecuteOptions<StepStart>>;
  readonly rescues?: readonly Rescue[];
  /** The outcomes of steps, by default `changed`. */
  readonly outcomes?: Readonly<Record<string, StepOutcome>>;
  /** Called inside each step. */
  readonly inside?: (id: string, signal: AbortSignal) => Promise<void> | void;
}

/** The observations of `play`. */
export interface Seen {
  /** `+id` for each start and `-id` for each end, in order. */
  readonly log: readonly string[];
  readonly outcomes: Readonly<Record<string, StepOutcome>>;
  readonly reports: readonly StepReport[];
  /** The highest number of steps that ran in parallel. */
  readonly most: number;
  readonly groups: readonly string[];
}

const never = new AbortController().signal;

/** Runs steps that take only a moment, or that call `inside`. */
export async function play(
  steps: readonly Step[],
  { options, rescues = [], outcomes, inside }: Play = {},
): Promise<Seen> {
  const log: string[] = [];
  const groups: string[] = [];
  let running = 0;
  let most = 0;
  const run = async ({ id }: Step, { signal }: StepStart): Promise<StepResult> => {
    log.push(`+${id}`);
    running += 1;
    most = Math.max(most, running);
    await (inside ? inside(id, signal) : sleep(1));
    running -= 1;
    log.push(`-${id}`);
    return { outcome: outcomes?.[id] ?? 'changed', diagnostics: [] };
  };
  const reports = await executeSteps(
    { steps, rescues },
    {
      begin: (_step, start) => start,
      run,
      parallel: 16,
      forbidden: never,
      halted: never,
      abortMs: 60_000,
      onEnd: () => undefined,
      onRescue: (group) => void groups.push(group),
      ...options,
    },
  );
  const byId = Object.fromEntries(reports.map(({ step, outcome }) => [step.id, outcome]));
  return { log, outcomes: byId, reports, most, groups };
}

/** Resolves when a signal is aborted. */
export const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve());
  });
