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

/** The changes of a plan by their id. */
export type ChangesById = ReadonlyMap<string, Change>;

/** The changes of plans by their id; of two with one id the later counts. */
export const changesById = (changes: readonly Change[]): ChangesById => new Map(changes.map((one) => [one.id, one]));

const restartWords = { up: 'has been restarted', off: 'has been switched off' } as const;

/**
 * What is worth a line when a step has ended, each without the time: what has changed, and what went wrong. Nothing for
 * steps that only prepare, look or find everything as it should be.
 */
export function endedStepLines(ended: EndedStep, changes: ChangesById): readonly string[] {
  const { step, outcome, ms, diagnostics } = ended;
  const took = durationText(ms);
  switch (outcome) {
    case 'changed':
    case 'unchanged': {
      if (step.act.kind === 'reboot') return [`${step.node} ${restartWords[step.act.to]} ${took}`];
      const isProof = step.act.kind === 'gate' || step.act.kind === 'ask';
      const made = outcome === 'changed' || isProof ? step.changes : [];
      return made.flatMap((id) => {
        const change = changes.get(id);
        return change === undefined
          ? []
          : [`${change.node} ${change.resource} has been changed (${plain(change.to)}) ${took}`];
      });
    }
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
export type RunEnd = 'done' | 'hands needed' | 'partial' | 'failed' | 'interrupted' | 'nothing changed';

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
