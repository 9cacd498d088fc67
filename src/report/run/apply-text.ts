import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { escapeText } from '../../diagnostics/escape.ts';
import { plainText } from '../../diagnostics/prose-text.ts';
import type { Change, Step, StepOutcome } from '../../model/step.ts';
import { diskText, durationText } from '../../model/text/units.ts';
import { counted } from '../counted.ts';

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

/** A change whose last step has ended well, with the time since its first one began. */
export interface MadeChange {
  readonly change: Change;
  readonly ms: number;
}

/** `studio-1 power/sleep has been changed (never sleeps) 0.7 s`. */
export const madeChangeLine = ({ change, ms }: MadeChange): string =>
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

/** `studio-1 placement/kimi/stop`; the id of a step begins with its node. */
function nameOf({ step, rescues }: EndedStep): string {
  const own = step.id.startsWith(`${step.node}/`) ? step.id.slice(step.node.length + 1) : step.id;
  return `${step.node} ${own}${rescues === undefined ? '' : ` (cleaning up ${rescues})`}`;
}

const plain = (text: string): string => escapeText(text.replace(/\.$/, ''));

/** How far a step has come; bytes for steps that move some. */
export interface StepSight {
  readonly doneBytes?: number;
  readonly totalBytes?: number;
  readonly text?: string;
}

/** `studio-3 model/kimi-k2/fetch 56 % 412 GB of 735 GB`, or what is waited for. */
export function progressLine(step: Pick<Step, 'node' | 'id'>, { doneBytes, totalBytes, text }: StepSight): string {
  const own = step.id.startsWith(`${step.node}/`) ? step.id.slice(step.node.length + 1) : step.id;
  const words = [`${step.node} ${own}`];
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
