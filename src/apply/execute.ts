import { setTimeout as sleep } from 'node:timers/promises';
import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import type { Plan } from '../engine/plan/plan.ts';
import { given } from '../model/given.ts';
import type { NodeName } from '../model/node.ts';
import { type Act, type Step, type StepId, type StepOutcome, stepsBefore } from '../model/step.ts';
import { onAbort } from '../remote/on-abort.ts';

/** What running one step gave. */
export interface StepResult {
  readonly outcome: StepOutcome;
  readonly diagnostics: readonly Diagnostic[];
}

/** How a step is run. It never rejects but for a bug, and ends soon once the signal asks it to wait no more. */
export type RunStep = (
  step: Step,
  about: { readonly signal: AbortSignal; readonly rescues?: string },
) => Promise<StepResult>;

/** What decides in which order steps run. */
export interface ExecuteOptions {
  readonly run: RunStep;
  /** On how many nodes at once. */
  readonly parallel: number;
  /** A person asked the run to end: nothing new but rescues. */
  readonly interrupt?: AbortSignal;
  /** The run may not go on at all, not even with rescues: a lease is lost. */
  readonly forbidden: AbortSignal;
  /** The run may not go on except with rescues: nothing can be written down any more. */
  readonly halted: AbortSignal;
  /** How long scripts that run are awaited after an interrupt. */
  readonly interruptMs: number;
  /** Told of every step once, when it has ended or is known not to be run. */
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

interface Schedule {
  readonly options: ExecuteOptions;
  readonly plan: Pick<Plan, 'steps' | 'rescues'>;
  readonly lanes: ReturnType<typeof createLanes>;
  readonly items: Item[];
  readonly itemsById: Map<StepId, Item>;
  readonly rescued: Set<string>;
  readonly finished: () => void;
  readonly broken: (error: unknown) => void;
}

/**
 * Runs the steps of a plan, each as soon as those that it needs have done their work, and those that it comes after have
 * ended. A step that did not keeps those that need it from running; the others go on. A group that was begun and is not completed is cleaned up by its rescue,
 * whatever became of the rest. Gives a report for every step in the order of the plan, then those of rescues.
 */
export async function executeSteps(
  plan: Pick<Plan, 'steps' | 'rescues'>,
  options: ExecuteOptions,
): Promise<readonly StepReport[]> {
  const items = plan.steps.map((step): Item => ({ step, giveUp: new AbortController(), state: 'waiting' }));
  const itemsById = new Map(items.map((item) => [item.step.id, item]));
  const lost = plan.steps.flatMap((step) => stepsBefore(step).filter((one) => !itemsById.has(one)));
  if (lost.length > 0) throw new Error(`the plan needs steps that it does not have: ${lost.join(', ')}`);
  const lanes = createLanes(options.parallel);
  const watch = new AbortController();
  await new Promise<void>((finished, broken) => {
    const schedule = { options, plan, lanes, items, itemsById, rescued: new Set<string>(), finished, broken };
    const stop = (): void => stopWaiting(schedule);
    for (const signal of [options.interrupt, options.forbidden, options.halted]) {
      signal?.addEventListener('abort', stop, { signal: watch.signal });
    }
    advance(schedule);
  }).finally(() => watch.abort());
  return items.flatMap(({ report }) => report ?? []);
}

const isOver = ({ interrupt, forbidden, halted }: ExecuteOptions): boolean =>
  interrupt?.aborted === true || forbidden.aborted || halted.aborted;

/** Whether a step did its work, or found it done. */
export const isDone = ({ outcome }: Pick<StepResult, 'outcome'>): boolean =>
  outcome === 'changed' || outcome === 'unchanged';

const isLost = ({ report }: Item): boolean => report !== undefined && !isDone(report);

/** What may run now is begun, what cannot run any more is skipped, until something has to be awaited. */
function advance(schedule: Schedule): void {
  let isMoving = true;
  while (isMoving) isMoving = skipHopeless(schedule) || rescueGroups(schedule) || startReady(schedule);
  if (schedule.items.every((item) => item.state === 'ended')) {
    schedule.finished();
    return;
  }
  if (schedule.items.some((item) => item.state === 'running')) return;
  const stuck = schedule.items.filter((item) => item.state === 'waiting').map((item) => item.step.id);
  schedule.broken(new Error(`the steps of the plan wait for each other: ${stuck.join(', ')}`));
}

function skipHopeless(schedule: Schedule): boolean {
  const { items, options } = schedule;
  const hopeless = items.filter((item) => item.state === 'waiting' && isHopeless(item, schedule));
  for (const item of hopeless) {
    const outcome = options.interrupt?.aborted === true ? 'interrupted' : 'skipped';
    end(item, { outcome, diagnostics: [] }, 0, options);
  }
  return hopeless.length > 0;
}

function isHopeless({ step, rescues }: Item, { items, itemsById, options }: Schedule): boolean {
  if (options.forbidden.aborted) return true;
  if (rescues !== undefined) return false;
  if (isOver(options)) return true;
  const needed = step.needs.flatMap((need) => itemsById.get(need) ?? []);
  if (needed.some(isLost)) return true;
  return step.group !== undefined && membersOf(step.group, items).some(isLost);
}

const membersOf = (group: string, items: readonly Item[]): readonly Item[] =>
  items.filter((item) => item.step.group === group && item.rescues === undefined);

/** A group is given up when one of its steps did not do its work; what it began is undone once nothing of it runs. */
function rescueGroups(schedule: Schedule): boolean {
  const { plan, items, rescued, options } = schedule;
  let hasRescued = false;
  for (const { group, steps } of plan.rescues) {
    const members = membersOf(group, items);
    const isGivenUp = members.some(isLost);
    if (!isGivenUp || rescued.has(group)) continue;
    for (const item of members) item.giveUp.abort();
    if (members.some((item) => item.state === 'running')) continue;
    rescued.add(group);
    // `ms` of a step that was begun is never 0.
    if (members.every((item) => item.report?.ms === 0) || options.forbidden.aborted) continue;
    hasRescued = true;
    options.onRescue(group);
    items.push(
      ...steps.map((step): Item => ({ step, rescues: group, giveUp: new AbortController(), state: 'waiting' })),
    );
  }
  return hasRescued;
}

function startReady(schedule: Schedule): boolean {
  const ready = schedule.items.filter((item) => item.state === 'waiting' && isReady(item, schedule));
  const started = ready.filter(({ step }) => schedule.lanes.enter(step.node, step.act.kind));
  for (const item of started) item.state = 'running';
  for (const item of started) run(item, schedule).then(() => advance(schedule), schedule.broken);
  return started.length > 0;
}

/** A rescue only keeps its order: one member that cannot be stopped is no reason to leave the others running. */
function isReady({ step, rescues }: Item, { items, itemsById }: Schedule): boolean {
  if (rescues === undefined) return stepsBefore(step).every((one) => itemsById.get(one)?.state === 'ended');
  const own = items.filter((item) => item.rescues === rescues && step.needs.includes(item.step.id));
  return own.every((item) => item.state === 'ended');
}

async function run(item: Item, schedule: Schedule): Promise<void> {
  const { step, rescues, giveUp } = item;
  const { options, lanes } = schedule;
  const startedAtMs = performance.now();
  const about = { signal: giveUp.signal, ...given({ rescues }) };
  const over = new AbortController();
  const result = await Promise.race([options.run(step, about), abandoned(item, options, over.signal)]);
  over.abort();
  lanes.leave(step.node, step.act.kind);
  end(item, result, Math.max(1, performance.now() - startedAtMs), options);
}

/**
 * After an interrupt nobody waits for ever for a script: how it ended is then unknown. Members of a group and rescues
 * are awaited to their own deadlines, since a start that is still on its way would outlive the stop that follows.
 */
async function abandoned(
  { step, rescues, giveUp }: Item,
  options: ExecuteOptions,
  over: AbortSignal,
): Promise<StepResult> {
  const { signal } = giveUp;
  if (!signal.aborted) await once(signal, over);
  const isAwaited = rescues !== undefined || step.group !== undefined;
  if (isAwaited && !options.forbidden.aborted) await once(options.forbidden, over);
  // Nothing else waits for it: it must not keep the process alive.
  await sleep(options.interruptMs, undefined, { ref: false });
  return { outcome: 'unknown', diagnostics: [] };
}

/** Never, once a step is over: signals live longer than all of them. */
const once = (signal: AbortSignal, over: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    onAbort(over, onAbort(signal, resolve));
  });

function end(item: Item, { outcome, diagnostics }: StepResult, ms: number, options: ExecuteOptions): void {
  const { step, rescues } = item;
  item.state = 'ended';
  item.report = { step, outcome, diagnostics, ms: Math.round(ms), ...given({ rescues }) };
  options.onEnd(item.report);
}

/** What runs is asked to wait no more. A script on a node goes on by itself; its runner is awaited for a moment. */
function stopWaiting(schedule: Schedule): void {
  for (const item of schedule.items) {
    if (item.rescues === undefined || schedule.options.forbidden.aborted) item.giveUp.abort();
  }
  advance(schedule);
}

/**
 * What keeps two steps of one node apart: short scripts one after another, long transfers one after another beside them,
 * and nothing at all beside a restart. Gates and questions only look, and hands are not ours.
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

/** Lanes in which at most `parallel` nodes are at work at a time: which of them are taken on which nodes. */
function createLanes(parallel: number) {
  const taken = new Set<string>();
  const workByNode = new Map<NodeName, number>();
  const keys = (node: NodeName, kind: Act['kind']): readonly string[] =>
    lanesByKind[kind].map((lane) => `${node} ${lane}`);
  return {
    /** Takes what a step needs, or nothing at all. */
    enter: (node: NodeName, kind: Act['kind']): boolean => {
      const wanted = keys(node, kind);
      if (wanted.length === 0) return true;
      if (wanted.some((one) => taken.has(one))) return false;
      if (!workByNode.has(node) && workByNode.size >= parallel) return false;
      for (const one of wanted) taken.add(one);
      workByNode.set(node, (workByNode.get(node) ?? 0) + 1);
      return true;
    },
    leave: (node: NodeName, kind: Act['kind']): void => {
      const held = keys(node, kind);
      if (held.length === 0) return;
      for (const one of held) taken.delete(one);
      const left = (workByNode.get(node) ?? 1) - 1;
      if (left > 0) workByNode.set(node, left);
      else workByNode.delete(node);
    },
  };
}

/** How one step came out. */
export interface StepReport {
  readonly step: Step;
  readonly outcome: StepOutcome;
  /** What went wrong, each with a hint; empty for a step that did its work. */
  readonly diagnostics: readonly Diagnostic[];
  /** From its intent to its outcome; 0 for a step that was never begun. */
  readonly ms: number;
  /** The group whose failure made this step run; absent for steps of the plan. */
  readonly rescues?: string;
}
