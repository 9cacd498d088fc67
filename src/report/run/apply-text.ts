import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { escapeText } from '../../diagnostics/escape.ts';
import { plainText } from '../../diagnostics/prose-text.ts';
import type { Plan } from '../../engine/plan/plan.ts';
import { resources } from '../../engine/plan/resources.ts';
import { viewOf } from '../../engine/plan/view.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import type { NodeName } from '../../model/node.ts';
import type { Change, Step, StepId, StepOutcome } from '../../model/step.ts';
import { diskText, durationText } from '../../model/text/units.ts';
import type { FleetObservation } from '../../rack/examination.ts';
import { judgeProperty, propertyKey } from '../../rack/resource.ts';
import { nodesText } from '../nodes-text.ts';
import { counted } from '../page.ts';

/** A task of a playbook that has no plan of its own, as a report needs it. */
type ToldTask =
  | { readonly kind: 'run'; readonly command: readonly string[] }
  | { readonly kind: 'wait'; readonly for: string }
  | { readonly kind: 'assert'; readonly property: string; readonly is: string | number | boolean }
  | { readonly kind: 'verify' };

/**
 * `studio-1, studio-2: power/sleep is 0`; what failed says so, and why is told at the end.
 *
 * @param isCut whether the run was interrupted before the task had a result
 */
export function taskText(
  task: ToldTask,
  nodes: readonly string[],
  { failed, isCut }: { readonly failed: readonly string[]; readonly isCut: boolean },
): string {
  const [what, wrong] = wordsFor(task);
  if (isCut) return `${nodesText(nodes)}: interrupted before this was known: ${what}`;
  if (failed.length === 0) return `${nodesText(nodes)}: ${what}`;
  return `${nodesText(failed)}: ${wrong}`;
}

function wordsFor(task: ToldTask): readonly [string, string] {
  switch (task.kind) {
    case 'run': {
      const program = escapeText(task.command[0] ?? '');
      return [`${program} ran`, `${program} failed`];
    }
    case 'wait':
      return [task.for, `not ${task.for} in time`];
    case 'assert':
      return [`${task.property} is ${task.is}`, `${task.property} is not ${task.is}`];
    case 'verify':
      return ['nothing is left to change', 'something is left to change'];
  }
}

/** A plan with what came of its steps, where it was run. */
interface RanPlan {
  readonly plan?: Plan;
  readonly run?: { readonly steps: readonly (Pick<EndedStep, 'step' | 'outcome'> & { readonly rescues?: string })[] };
}

/** What was planned, and what is seen now. */
interface RunSight {
  /** Of every plan that was run. */
  readonly planned: readonly Change[];
  /** The plan of the last look. */
  readonly last: Plan;
  readonly desired: DesiredFleet;
  readonly observation: FleetObservation;
  readonly targets: readonly NodeName[];
}

/** Counts by property what a run came to. Only what the last look has seen counts as changed. */
export function countRun({ planned, last, desired, observation, targets }: RunSight): RunCounts {
  const view = viewOf({ desired, observation, targets });
  const properties = resources.flatMap((resource) => resource.properties(view));
  const met = new Set(properties.filter((one) => judgeProperty(one) === 'met').map(propertyKey));
  const ids = new Set(planned.map(({ id }) => id));
  const open = new Set([...last.changes.map(({ id }) => id), ...last.waiting.map(propertyIdOf)]);
  const unseen = targets.filter((name) => !Object.hasOwn(last.observed, name));
  const isMade = (change: Change): boolean => !open.has(change.id) && !unseen.includes(change.node);
  const made = [...ids].filter((id) => planned.some((change) => change.id === id && isMade(change)));
  const hands = last.blockers.filter(({ isHands }) => isHands).length;
  // Of what was not seen nobody can say that there is none of it.
  const known = (count: number): number | null => (count === 0 && unseen.length > 0 ? null : count);
  return {
    changed: known(made.length),
    failed: known(ids.size - made.length),
    unchanged: known([...met].filter((key) => !ids.has(key)).length),
    left: last.changes.length,
    waiting: last.waiting.length,
    blockers: last.blockers.length - hands,
    hands,
    unseen,
  };
}

/** What can be counted of a run that ended without a last look: changes of which every step has done its work. */
export function countUnchecked(works: readonly RanPlan[], targets: readonly NodeName[]): RunCounts {
  const made = works.flatMap(({ plan, run }) => {
    if (plan === undefined || run === undefined) return [];
    const watch = watchChanges(plan);
    return run.steps.filter(({ rescues }) => rescues === undefined).flatMap((step) => watch.ended(step));
  });
  const changed = new Set(made.map(({ id }) => id)).size;
  const none = { failed: null, unchanged: null, left: 0, waiting: 0, blockers: 0, hands: 0 };
  return { changed: changed === 0 ? null : changed, ...none, unseen: [...targets] };
}

const propertyIdOf = ({ node, resource }: Plan['waiting'][number]): string => `${node} ${resource}`;

/** Finds out, step by step, which changes of a plan are made. */
export interface ChangeWatch {
  /** The changes whose last step was this one, and of which any step has changed something. */
  readonly ended: (step: Pick<EndedStep, 'step' | 'outcome'>) => readonly Change[];
}

interface Watched {
  readonly change: Change;
  readonly left: Set<StepId>;
  isChanged: boolean;
}

/** Most changes take several steps: each is told once, when all of them have done their work. */
export function watchChanges({ changes, steps }: Pick<Plan, 'changes' | 'steps'>): ChangeWatch {
  const watched = new Map(
    changes.map((change): [string, Watched] => {
      const own = steps.filter((step) => step.changes.includes(change.id)).map(({ id }) => id);
      return [change.id, { change, left: new Set(own), isChanged: false }];
    }),
  );
  return {
    ended: ({ step, outcome }) => {
      if (outcome !== 'changed' && outcome !== 'unchanged') return [];
      return step.changes.flatMap((id) => {
        const one = watched.get(id);
        if (one === undefined || !one.left.delete(step.id)) return [];
        one.isChanged ||= outcome === 'changed';
        return one.left.size === 0 && one.isChanged ? [one.change] : [];
      });
    },
  };
}

/** How one step came out, as a run tells it. */
export interface EndedStep {
  readonly step: Step;
  readonly outcome: StepOutcome;
  readonly ms: number;
  readonly diagnostics: readonly Diagnostic[];
  /** The group whose failure made this step run. */
  readonly rescues?: string;
}

const restartWords = { up: 'has been restarted', off: 'has been switched off' } as const;

/** `studio-1 power/sleep has been changed (never sleeps) 0.7 s`, with the time since the first step of it began. */
export const madeChangeLine = ({ change, ms }: { readonly change: Change; readonly ms: number }): string =>
  `${change.node} ${change.resource} has been changed (${plain(change.to)}) ${durationText(ms)}`;

/**
 * What is worth a line when a step has ended, without the time: a Mac that was restarted, and what went wrong. What its
 * changes came to is told when their last step has ended.
 */
export function endedStepLines(ended: EndedStep): readonly string[] {
  const { step, outcome, ms, diagnostics } = ended;
  const took = durationText(ms);
  switch (outcome) {
    case 'changed':
    case 'unchanged':
      return step.act.kind === 'reboot' ? [`${step.node} ${restartWords[step.act.to]} ${took}`] : [];
    case 'failed':
      return [
        `${nameOf(ended)} failed after ${took}: ${plain(plainText(diagnostics[0]?.detail ?? 'without a reason'))}`,
      ];
    case 'unknown':
      return [`${nameOf(ended)}: nobody knows how it ended; the next look will tell`];
    case 'interrupted':
      return [`${nameOf(ended)} was interrupted`];
    case 'skipped':
    case 'blocked':
      return [];
  }
}

const nameOf = ({ step, rescues }: EndedStep): string =>
  `${stepName(step)}${rescues === undefined ? '' : ` (cleaning up ${rescues})`}`;

/** `studio-1 placement/kimi/stop`; the id of a step begins with its node. */
const stepName = ({ node, id }: Pick<Step, 'node' | 'id'>): string =>
  `${node} ${id.startsWith(`${node}/`) ? id.slice(node.length + 1) : id}`;

const plain = (text: string): string => escapeText(text.replace(/\.$/, ''));

/** How far a step has come; bytes for steps that move some. */
interface StepSight {
  readonly doneBytes?: number;
  readonly totalBytes?: number;
  readonly text?: string;
}

/** `studio-3 model/kimi-k2/fetch 56 % 412 GB of 735 GB`, or what is waited for. */
export function progressLine(step: Pick<Step, 'node' | 'id'>, { doneBytes, totalBytes, text }: StepSight): string {
  const words = [stepName(step)];
  if (doneBytes !== undefined && totalBytes !== undefined && totalBytes > 0) {
    const share = Math.floor((100 * doneBytes) / totalBytes);
    words.push(`${share} % ${diskText(doneBytes)} of ${diskText(totalBytes)}`);
  }
  if (text !== undefined && text !== '') words.push(plain(text));
  return words.join(' ');
}

/** What a run came to, judged by looking again. */
export interface RunCounts {
  /** Properties that are seen to be changed; without a last look, those whose steps have done their work. */
  readonly changed: number | null;
  /** Properties that were to be changed and are not seen to be; null as below. */
  readonly failed: number | null;
  /** Properties that were right before and still are; null where it would be 0 for want of a look at every target. */
  readonly unchanged: number | null;
  /** Of the plan of the last look: changes that are left, and those that wait. */
  readonly left: number;
  readonly waiting: number;
  /** Entries of its work list: commands that come first, and work for hands. */
  readonly blockers: number;
  readonly hands: number;
  /** Targets that nobody has seen after the last step. */
  readonly unseen: readonly string[];
}

/** How the run ended, in the words of the exit codes. */
export type RunEnd =
  | 'done'
  | 'hands needed'
  | 'apply needed'
  | 'blocked'
  | 'partial'
  | 'failed'
  | 'interrupted'
  | 'nothing changed';

const endWords: Readonly<Record<RunEnd, string>> = {
  done: 'Done',
  'hands needed': 'Manual steps needed',
  'apply needed': 'Apply needed first',
  blocked: 'Blocked',
  partial: 'Partly done',
  failed: 'Failed',
  interrupted: 'Interrupted',
  'nothing changed': 'Nothing changed',
};

/**
 * `Done: 9 changed, 31 already right. Checked again: nothing left to do.`
 *
 * @param checked what the last look has found where nothing is left: `chat is stopped`
 */
export function summaryText(end: RunEnd, counts: RunCounts, checked = 'nothing left to do'): string {
  const said = countsText(counts);
  const left = leftText(counts);
  const lost = counts.unseen.length === 0 ? [] : [`Not reached: ${counts.unseen.join(', ')}.`];
  const rest = left === '' ? (lost.length === 0 ? [`Checked again: ${checked}.`] : []) : [`Remaining: ${left}.`];
  return [`${endWords[end]}${said === '' ? '' : `: ${said}`}.`, ...rest, ...lost].join(' ');
}

/** What was done by a run that nobody could look at afterwards, and how it is continued. */
export function uncheckedText(end: RunEnd, counts: RunCounts): string {
  const said = countsText(counts);
  const head = `${endWords[end]}${said === '' ? '' : `: ${said}, as its steps reported`}.`;
  return end === 'interrupted' ? `${head} Run the same command again to continue.` : head;
}

function countsText({ changed, failed, unchanged }: RunCounts): string {
  return [
    ...(changed === null ? [] : [`${changed} changed`]),
    ...(failed === null || failed === 0 ? [] : [`${failed} failed`]),
    ...(unchanged === null ? [] : [`${unchanged} already right`]),
  ].join(', ');
}

function leftText({ left, waiting, blockers, hands }: RunCounts): string {
  return [
    ...(left === 0 ? [] : [counted(left, 'change')]),
    ...(waiting === 0 ? [] : [`${counted(waiting, 'change')} waiting`]),
    ...(blockers === 0 ? [] : [`${counted(blockers, 'command')} to run first`]),
    ...(hands === 0 ? [] : [`${counted(hands, 'manual step')} at the rack`]),
  ].join(', ');
}
