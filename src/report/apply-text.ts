import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import { escapeText } from '../diagnostics/escape.ts';
import { diskText, durationText } from '../doctor/units.ts';
import type { Change, Step, StepOutcome } from '../model/step.ts';
import { counted } from './counted.ts';

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
      return [`${nameOf(ended)} failed after ${took}: ${plain(diagnostics[0]?.detail ?? 'without a reason')}`];
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
  /** Changes that are seen to be made. */
  readonly changed: number;
  /** Changes that were planned and are not seen to be made. */
  readonly failed: number;
  /** Properties that were right before and still are. */
  readonly unchanged: number;
  /** Of the plan of the last look: changes that are left, and those that wait. */
  readonly left: number;
  readonly waiting: number;
  /** Entries of its work list. */
  readonly blockers: number;
  /** Nodes that nobody could look at in the end. */
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

/** `done: 9 changed, 0 failed, 31 unchanged; the second plan is empty`. */
export function summaryText(end: RunEnd, counts: RunCounts): string {
  const { changed, failed, unchanged } = counts;
  return `${end}: ${changed} changed, ${failed} failed, ${unchanged} unchanged; ${secondPlanText(counts)}`;
}

function secondPlanText({ left, waiting, blockers, unseen }: RunCounts): string {
  const parts = [
    ...(left === 0 ? [] : [`${counted(left, 'change')} left`]),
    ...(waiting === 0 ? [] : [`${waiting} waiting`]),
    ...(blockers === 0 ? [] : [`${blockers} on the work list`]),
    ...(unseen.length === 0 ? [] : [`${unseen.join(', ')} not seen`]),
  ];
  return parts.length === 0 ? 'the second plan is empty' : `the second plan has ${parts.join(', ')}`;
}
