import { setTimeout as sleep } from 'node:timers/promises';
import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import type { Plan, StepReport } from '../engine/plan/plan.ts';
import { given } from '../model/given.ts';
import type { NodeName } from '../model/node.ts';
import { type Act, type Step, type StepOutcome, stepsBefore } from '../model/step.ts';
import { onAbort } from '../remote/on-abort.ts';

export interface StepResult {
  readonly outcome: StepOutcome;
  readonly diagnostics: readonly Diagnostic[];
}

/** A step's start: the signal that ends its waits, and the group that it rescues. */
export interface StepStart {
  readonly signal: AbortSignal;
  readonly rescues?: string;
}

export interface ExecuteOptions<Context> {
  /** Records the start of a step. Without a context, the step is skipped. */
  readonly begin: (step: Step, start: StepStart) => Context | undefined;
  /** Runs a step. Rejects only for a bug, and ends soon after its signal aborts. */
  readonly run: (step: Step, context: Context) => Promise<StepResult>;
  /** The maximum number of nodes with running steps. */
  readonly parallel: number;
  /** Aborts when a person interrupts the run; only rescues may start. */
  readonly abort?: AbortSignal;
  /** Aborts when a lease is lost; nothing may start, not even rescues. */
  readonly forbidden: AbortSignal;
  /** Aborts when the journal cannot be written; only rescues may start. */
  readonly halted: AbortSignal;
  /** How long to wait for running scripts after an abort. */
  readonly abortMs: number;
  readonly onAbort?: () => void;
  /** Called once per step, when the step has ended or will not run. */
  readonly onEnd: (report: StepReport) => void;
  readonly onRescue: (group: string) => void;
}

interface Item {
  readonly step: Step;
  readonly rescues?: string;
  readonly giveUp: AbortController;
  state: 'waiting' | 'running' | 'ended';
  report?: StepReport;
}

type Limits = Omit<ExecuteOptions<never>, 'begin' | 'run'>;

type Schedule = ReturnType<typeof createSchedule>;

/**
 * Runs a plan's steps. Each step starts when the steps in `needs` have succeeded and those in `after` have ended. A
 * failed step blocks only steps that need it. If a group was started but not completed, its rescue always cleans up.
 * Returns the reports of all steps in plan order, followed by those of rescues.
 */
export async function executeSteps<Context>(
  plan: Pick<Plan, 'steps' | 'rescues'>,
  options: ExecuteOptions<Context>,
): Promise<readonly StepReport[]> {
  const schedule = createSchedule(plan, options);
  const running = new Set<Promise<void>>();
  let wake = (): void => undefined;
  const stop = (): void => {
    stopWaiting(schedule);
    wake();
  };
  const { abort, forbidden, halted, onAbort } = options;
  const watch = new AbortController();
  const { signal } = watch;
  abort?.addEventListener('abort', () => onAbort?.(), { signal });
  for (const one of [abort, forbidden, halted]) one?.addEventListener('abort', stop, { signal });
  try {
    for (;;) {
      // Created before the starts, because they may abort a signal.
      const woken = new Promise<void>((resolve) => {
        wake = resolve;
      });
      while (skipImpossible(schedule) || rescueGroups(schedule));
      for (const item of takeReady(schedule)) {
        const startedAtMs = performance.now();
        const context = options.begin(item.step, { signal: item.giveUp.signal, ...given({ rescues: item.rescues }) });
        const result = context === undefined ? notRun : options.run(item.step, context);
        const ended: Promise<void> = finish(item, result, startedAtMs, schedule).finally(() => running.delete(ended));
        running.add(ended);
      }
      if (running.size === 0) break;
      await Promise.race([...running, woken]);
    }
  } finally {
    watch.abort();
  }
  const stuck = schedule.items.filter(({ state }) => state === 'waiting').map(({ step }) => step.id);
  if (stuck.length > 0) throw new Error(`the steps of the plan wait for each other: ${stuck.join(', ')}`);
  return schedule.items.flatMap(({ report }) => report ?? []);
}

const notRun = Promise.resolve<StepResult>({ outcome: 'skipped', diagnostics: [] });

function createSchedule({ steps, rescues }: Pick<Plan, 'steps' | 'rescues'>, options: Limits) {
  const items = steps.map((step): Item => ({ step, giveUp: new AbortController(), state: 'waiting' }));
  const itemsById = new Map(items.map((item) => [item.step.id, item]));
  const lost = steps.flatMap((step) => stepsBefore(step).filter((one) => !itemsById.has(one)));
  if (lost.length > 0) throw new Error(`the plan needs steps that are missing from it: ${lost.join(', ')}`);
  return { options, rescues, lanes: createLanes(options.parallel), items, itemsById, rescued: new Set<string>() };
}

const isOver = ({ abort, forbidden, halted }: Limits): boolean =>
  abort?.aborted === true || forbidden.aborted || halted.aborted;

export const isDone = ({ outcome }: Pick<StepResult, 'outcome'>): boolean =>
  outcome === 'changed' || outcome === 'unchanged';

const isLost = ({ report }: Item): boolean => report !== undefined && !isDone(report);

function skipImpossible(schedule: Schedule): boolean {
  const { items, options } = schedule;
  const impossible = items.filter((item) => item.state === 'waiting' && isImpossible(item, schedule));
  for (const item of impossible) {
    const outcome = options.abort?.aborted === true ? 'interrupted' : 'skipped';
    end(item, { outcome, diagnostics: [] }, 0, options);
  }
  return impossible.length > 0;
}

function isImpossible({ step, rescues }: Item, { items, itemsById, options }: Schedule): boolean {
  if (options.forbidden.aborted) return true;
  if (rescues !== undefined) return false;
  if (isOver(options)) return true;
  const needed = step.needs.flatMap((need) => itemsById.get(need) ?? []);
  if (needed.some(isLost)) return true;
  return step.group !== undefined && membersOf(step.group, items).some(isLost);
}

const membersOf = (group: string, items: readonly Item[]): readonly Item[] =>
  items.filter((item) => item.step.group === group && item.rescues === undefined);

/** Gives up a group after one of its steps has failed, and starts its rescue when none of its steps is running. */
function rescueGroups(schedule: Schedule): boolean {
  const { rescues, items, rescued, options } = schedule;
  let hasRescued = false;
  for (const { group, steps } of rescues) {
    const members = membersOf(group, items);
    const isGivenUp = members.some(isLost);
    if (!isGivenUp || rescued.has(group)) continue;
    for (const item of members) item.giveUp.abort();
    if (members.some((item) => item.state === 'running')) continue;
    rescued.add(group);
    // `finish` counts at least 1 ms, so 0 means that the step was never started.
    if (members.every((item) => item.report?.ms === 0) || options.forbidden.aborted) continue;
    hasRescued = true;
    options.onRescue(group);
    items.push(
      ...steps.map((step): Item => ({ step, rescues: group, giveUp: new AbortController(), state: 'waiting' })),
    );
  }
  return hasRescued;
}

/** Takes the lanes of all steps that can start now, and returns these steps. */
function takeReady(schedule: Schedule): readonly Item[] {
  const ready = schedule.items.filter((item) => item.state === 'waiting' && isReady(item, schedule));
  const started = ready.filter(({ step }) => schedule.lanes.enter(step.node, step.act.kind));
  for (const item of started) item.state = 'running';
  return started;
}

/** Rescue steps wait only for their order: one failed stop must not leave the other ranks running. */
function isReady({ step, rescues }: Item, { items, itemsById }: Schedule): boolean {
  if (rescues === undefined) return stepsBefore(step).every((one) => itemsById.get(one)?.state === 'ended');
  const own = items.filter((item) => item.rescues === rescues && step.needs.includes(item.step.id));
  return own.every((item) => item.state === 'ended');
}

/** Waits for the result of a started step; after an abort only for a limited time. */
async function finish(
  item: Item,
  result: Promise<StepResult>,
  startedAtMs: number,
  { options, lanes }: Schedule,
): Promise<void> {
  const over = new AbortController();
  const ended = await Promise.race([result, abandoned(item, options, over.signal)]);
  over.abort();
  lanes.leave(item.step.node, item.step.act.kind);
  end(item, ended, Math.max(1, performance.now() - startedAtMs), options);
}

/**
 * After an abort, waits only a limited time for a running script. If the script is still running then, its result is
 * unknown. Group steps and rescues run to their own deadlines, because a start still in progress would outlive the stop
 * that follows.
 */
async function abandoned({ step, rescues, giveUp }: Item, options: Limits, over: AbortSignal): Promise<StepResult> {
  const { signal } = giveUp;
  if (!signal.aborted) await once(signal, over);
  const isAwaited = rescues !== undefined || step.group !== undefined;
  if (isAwaited && !options.forbidden.aborted) await once(options.forbidden, over);
  // This timer must not keep the process alive.
  await sleep(options.abortMs, undefined, { ref: false });
  return { outcome: 'unknown', diagnostics: [] };
}

/** Unsubscribes when the step is over, because the signals exist longer. */
const once = (signal: AbortSignal, over: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    onAbort(over, onAbort(signal, resolve));
  });

function end(item: Item, { outcome, diagnostics }: StepResult, ms: number, options: Limits): void {
  const { step, rescues } = item;
  item.state = 'ended';
  item.report = { step, outcome, diagnostics, ms: Math.round(ms), ...given({ rescues }) };
  options.onEnd(item.report);
}

/** Asks running steps to stop waiting. A script on a node continues on its own. */
function stopWaiting(schedule: Schedule): void {
  for (const item of schedule.items) {
    if (item.rescues === undefined || schedule.options.forbidden.aborted) item.giveUp.abort();
  }
}

/**
 * Steps of one node in the same lane run one after another: short scripts in one lane, long transfers in the other. A
 * restart takes both lanes. Gates and requests only observe, so they need no lane.
 */
type Lane = 'act' | 'bulk';

const lanesByKind: Readonly<Record<Act['kind'], readonly Lane[]>> = {
  script: ['act'],
  transaction: ['act'],
  put: ['act'],
  send: ['bulk'],
  job: ['bulk'],
  reboot: ['act', 'bulk'],
  gate: [],
  ask: [],
  prove: ['act'],
  dialogue: [],
  hands: [],
};

/** Tracks the lanes in use on each node; at most `parallel` nodes use any. */
function createLanes(parallel: number) {
  const taken = new Map<NodeName, readonly Lane[]>();
  return {
    /** Takes all the lanes that a step needs, or none of them. */
    enter: (node: NodeName, kind: Act['kind']): boolean => {
      const wanted = lanesByKind[kind];
      if (wanted.length === 0) return true;
      const own = taken.get(node) ?? [];
      if (wanted.some((lane) => own.includes(lane))) return false;
      if (own.length === 0 && taken.size >= parallel) return false;
      taken.set(node, [...own, ...wanted]);
      return true;
    },
    leave: (node: NodeName, kind: Act['kind']): void => {
      const left = (taken.get(node) ?? []).filter((lane) => !lanesByKind[kind].includes(lane));
      if (left.length > 0) taken.set(node, left);
      else taken.delete(node);
    },
  };
}
