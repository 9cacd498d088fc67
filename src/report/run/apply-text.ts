import { escapeText } from '../../diagnostics/escape.ts';
import { plainText } from '../../diagnostics/prose-text.ts';
import type { PlanRequest } from '../../engine/plan/make-plan.ts';
import type { Plan, StepReport } from '../../engine/plan/plan.ts';
import { viewOf } from '../../engine/plan/view.ts';
import { resources } from '../../engine/resources.ts';
import type { ReportDocument } from '../../model/documents.generated.ts';
import type { NodeName } from '../../model/node.ts';
import type { Change, Step, StepId, StepProgress } from '../../model/step.ts';
import { diskText, durationText } from '../../model/text/units.ts';
import { judgeProperty, propertyKey } from '../../rack/resource.ts';
import { nodesText } from '../nodes-text.ts';
import { counted } from '../page.ts';

/** A playbook task without a plan. */
type PlainTask =
  | { readonly kind: 'run'; readonly command: readonly string[] }
  | { readonly kind: 'wait'; readonly for: string }
  | { readonly kind: 'assert'; readonly property: string; readonly is: string | number | boolean }
  | { readonly kind: 'verify' }
  | { readonly kind: 'bake' };

/**
 * `studio-1, studio-2: power/sleep is 0`, or that the task failed; the reason is printed at the end of the run.
 * @param isCut true if the run was interrupted before the task had a result
 */
export function taskText(
  task: PlainTask,
  nodes: readonly string[],
  { failed, isCut }: { readonly failed: readonly string[]; readonly isCut: boolean },
): string {
  const [what, wrong] = wordsFor(task);
  if (isCut) return `${nodesText(nodes)}: interrupted before this was checked: ${what}`;
  if (failed.length === 0) return `${nodesText(nodes)}: ${what}`;
  return `${nodesText(failed)}: ${wrong}`;
}

function wordsFor(task: PlainTask): readonly [string, string] {
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
      return ['nothing left to change', 'some changes are left'];
    case 'bake':
      // Without its time: on a simulated rack, it passes faster than the file says.
      return ['kept serving', 'did not keep serving'];
  }
}

interface RanPlan {
  readonly plan?: Plan;
  readonly run?: { readonly steps: readonly (Pick<StepReport, 'step' | 'outcome'> & { readonly rescues?: string })[] };
}

interface CheckedRun extends Omit<PlanRequest, 'goal'> {
  /** The changes of every plan that was run. */
  readonly planned: readonly Change[];
  /** The plan of the final check. */
  readonly last: Plan;
}

/** Counts a run's results by property. Only changes that the final check confirmed count as changed. */
export function countRun({ planned, last, desired, observation, targets }: CheckedRun): RunCounts {
  const view = viewOf({ desired, observation, targets });
  const properties = resources.flatMap((resource) => resource.properties(view));
  const met = new Set(properties.filter((one) => judgeProperty(one) === 'met').map(propertyKey));
  const ids = new Set(planned.map(({ id }) => id));
  const open = new Set([...last.changes.map(({ id }) => id), ...last.waiting.map(propertyIdOf)]);
  const unseen = targets.filter((name) => !Object.hasOwn(last.observed, name));
  const isMade = (change: Change): boolean => !open.has(change.id) && !unseen.includes(change.node);
  const made = [...ids].filter((id) => planned.some((change) => change.id === id && isMade(change)));
  const hands = last.blockers.filter(({ isHands }) => isHands).length;
  // While targets are unobserved, a count of 0 is uncertain.
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

/** The counts of a run without a final check: changes whose steps all succeeded. */
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

/** Tracks a plan's steps. Most changes take several steps; each change is reported once, after its last step. */
export function watchChanges({ changes, steps }: Pick<Plan, 'changes' | 'steps'>) {
  const watched = new Map<string, { readonly change: Change; readonly left: Set<StepId>; isChanged: boolean }>(
    changes.map((change) => {
      const own = steps.filter((step) => step.changes.includes(change.id)).map(({ id }) => id);
      return [change.id, { change, left: new Set(own), isChanged: false }];
    }),
  );
  return {
    /** The changes that this step completed, if any of their steps changed something. */
    ended: ({ step, outcome }: Pick<StepReport, 'step' | 'outcome'>): readonly Change[] => {
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

const restartWords = { up: 'restarted', off: 'switched off' } as const;

/** `studio-1 power/sleep changed (never sleeps) 0.7 s`, with the time since its first step began. */
export const madeChangeLine = ({ change, ms }: { readonly change: Change; readonly ms: number }): string =>
  `${change.node} ${change.resource} changed (${plain(change.to)}) ${durationText(ms)}`;

/** The lines about an ended step, without the time: restarts and failures. {@link madeChangeLine} reports changes. */
export function endedStepLines(ended: StepReport): readonly string[] {
  const { step, outcome, ms, diagnostics } = ended;
  const took = durationText(ms);
  if (outcome === 'failed')
    return [`${nameOf(ended)} failed after ${took}: ${plain(plainText(diagnostics[0]?.detail ?? 'no reason given'))}`];
  if (outcome === 'unknown') return [`${nameOf(ended)}: result unknown until the node is observed again`];
  if (outcome === 'interrupted') return [`${nameOf(ended)} was interrupted`];
  const isRestarted = step.act.kind === 'reboot' && (outcome === 'changed' || outcome === 'unchanged');
  return isRestarted ? [`${step.node} ${restartWords[step.act.to]} ${took}`] : [];
}

const nameOf = ({ step, rescues }: StepReport): string =>
  `${stepName(step)}${rescues === undefined ? '' : ` (cleaning up ${rescues})`}`;

/** `studio-1 placement/kimi/stop`; a step's id begins with its node. */
const stepName = ({ node, id }: Pick<Step, 'node' | 'id'>): string =>
  `${node} ${id.startsWith(`${node}/`) ? id.slice(node.length + 1) : id}`;

const plain = (text: string): string => escapeText(text.replace(/\.$/, ''));

/** `studio-3 model/kimi-k2/fetch 56 % 412 GB of 735 GB`, or what the step is waiting for. */
export function progressLine(step: Pick<Step, 'node' | 'id'>, { doneBytes, totalBytes, text }: StepProgress): string {
  const words = [stepName(step)];
  if (doneBytes !== undefined && totalBytes !== undefined && totalBytes > 0) {
    const share = Math.floor((100 * doneBytes) / totalBytes);
    words.push(`${share} % ${diskText(doneBytes)} of ${diskText(totalBytes)}`);
  }
  if (text !== undefined && text !== '') words.push(plain(text));
  return words.join(' ');
}

/** Without a final check, the changed properties are those whose steps succeeded. */
export interface RunCounts extends Omit<ReportDocument['counts'], 'reason'> {
  /** From the final check's plan: remaining changes, and waiting changes. */
  readonly left: number;
  readonly waiting: number;
  /** Its blockers: commands to run first, and manual steps. */
  readonly blockers: number;
  readonly hands: number;
  /** Targets that were not observed after the last step. */
  readonly unseen: readonly string[];
}

/** A run's result; each result has its exit code. */
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
 * A summary such as `Done: 9 changed, 31 already right. Checked again: nothing left to do.`
 * @param checked the result of the final check if nothing is left: `chat is stopped`
 */
export function summaryText(end: RunEnd, counts: RunCounts, checked = 'nothing left to do'): string {
  const said = countsText(counts);
  const left = leftText(counts);
  const lost = counts.unseen.length === 0 ? [] : [`Not reached: ${nodesText(counts.unseen)}.`];
  const rest = left === '' ? (lost.length === 0 ? [`Checked again: ${checked}.`] : []) : [`Remaining: ${left}.`];
  return [`${endWords[end]}${said === '' ? '' : `: ${said}`}.`, ...rest, ...lost].join(' ');
}

/** The summary of a run without a final check, with advice on how to continue. */
export function uncheckedText(end: RunEnd, counts: RunCounts): string {
  const said = countsText(counts);
  const head = `${endWords[end]}${said === '' ? '' : `: ${said} (reported by the steps, not checked again)`}.`;
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
