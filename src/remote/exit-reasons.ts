import { diagnose } from '../diagnostics/diagnose.ts';
import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import type { Exit } from '../model/exit.ts';
import { nodeSubject } from '../model/subject.ts';
import { labelled, prose } from '../model/text/prose.ts';

/** An exit that nobody knows. */
export type UnknownExit = Extract<Exit, { kind: 'unknown' }>;

const unknown = (why: NonNullable<UnknownExit['why']>, reason: string): UnknownExit => ({
  kind: 'unknown',
  why,
  reason,
});

/** Every way in which the exit of a command can be unknown; {@link diagnoseExit} says what it means. */
export const unknownExit = {
  /** The connection is gone. */
  dropped: (why: string) => unknown('dropped', `the connection broke off while the command ran (${why})`),
  /** The deadline of the command passed. */
  late: (deadlineMs: number) => unknown('late', `the command did not end within ${deadlineMs / 1000} s`),
  /** Whoever asked for the command wants no answer any more. */
  ended: unknown('closed', 'the command was ended by meshwright'),
  /** The node printed more than was allowed, and the command was ended. */
  tooLong: (maxBytes: number) => unknown('too-long', `it printed more than ${maxBytes} bytes and was ended`),
  /** The channel was closed without an exit code. */
  noCode: unknown('no-code', 'the node closed the channel without an exit code'),
  /** The node opened no channel, so the command never ran. */
  noChannel: unknown('no-channel', 'the node refused to run a command'),
  /** Its input ended with an error of the controller, so that it was abandoned. */
  noInput: unknown('closed', 'its input could not be read to the end'),
  /** We closed the connection ourselves. */
  closed: unknown('closed', 'the connection was closed by meshwright'),
} as const;

/** Says what an unknown exit means; undefined for an exit that is known. */
export function diagnoseExit(label: string, exit: Exit): Diagnostic | undefined {
  if (exit.kind !== 'unknown') return undefined;
  const fields = { detail: prose`${labelled(label)}${exit.reason}.`, subject: nodeSubject(label) };
  if (exit.why === 'dropped') return diagnose('ssh/dropped', fields);
  return diagnose(exit.why === 'late' ? 'ssh/timed-out' : 'ssh/exit-unknown', fields);
}
