import { diagnose } from '../diagnostics/diagnose.ts';
import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import type { Exit } from '../model/exit.ts';

const droppedText = 'the connection broke off while the command ran';
const deadlineText = 'the command did not end within';

/** Why the exit of a command can be unknown, in the words that {@link diagnoseExit} recognises. */
export const exitReasons = {
  /** The connection is gone. */
  dropped: (why: string): string => `${droppedText} (${why})`,
  /** The deadline of the command passed. */
  deadline: (deadlineMs: number): string => `${deadlineText} ${deadlineMs / 1000} s`,
  /** The node printed more than was allowed, and the command was ended. */
  tooLong: (maxBytes: number): string => `it printed more than ${maxBytes} bytes and was ended`,
  /** The channel was closed without an exit code. */
  noCode: 'the node closed the channel without an exit code',
  /** The node opened no channel, so the command never ran. */
  noChannel: 'the node refused to run a command',
  /** We closed the connection ourselves. */
  closed: 'the connection was closed by meshwright',
} as const;

/** Says what an unknown exit means; undefined for an exit that is known. */
export function diagnoseExit(label: string, exit: Exit): Diagnostic | undefined {
  if (exit.kind !== 'unknown') return undefined;
  const subject = `node ${label}`;
  const detail = `${label}: ${exit.reason}.`;
  if (exit.reason.startsWith(droppedText)) return diagnose('ssh/dropped', { detail, subject });
  return diagnose(exit.reason.startsWith(deadlineText) ? 'ssh/timed-out' : 'ssh/exit-unknown', { detail, subject });
}
