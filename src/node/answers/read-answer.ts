/**
 * Reads a node's answers. Exit status, stdout and stderr are checked together before a fact uses them. Functions that
 * narrow JSON return the value or `undefined`, and never throw.
 */
import { andThen, type Known, known, mapKnown, type UnknownReason, unknown } from '../../model/known.ts';
import type { Answer } from '../../model/probe.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

/** The value as an object; `undefined` for arrays and everything else. */
export const asObject = (value: unknown): JsonObject | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;

export const asList = (value: unknown): readonly unknown[] | undefined =>
  Array.isArray(value) ? (value as readonly unknown[]) : undefined;

export function textOf(object: JsonObject, key: string): string | undefined {
  const value = Object.hasOwn(object, key) ? object[key] : undefined;
  return typeof value === 'string' ? value : undefined;
}

interface ReadOptions {
  /** Exit codes with valid stdout (default: only 0). */
  readonly exits?: readonly number[];
  /** Whether the text's syntax shows that it is complete, as in JSON; otherwise it must end with a line end. */
  readonly isSelfEnding?: boolean;
}

/**
 * The text of a trustworthy answer, or the reason why the answer is not trustworthy. An answer is trustworthy if it
 * arrived completely and in time, the tool succeeded, and the text is clean and ends with a line end. Some Apple tools
 * print `### Error` and exit with 0 (seen on macOS 26.6.1).
 */
export function readText(answer: Answer | undefined, options: ReadOptions = {}): Known<string> {
  if (answer === undefined) return unknown('not-asked', 'The probe did not run.');
  const failure =
    arrivalFailure(answer) ??
    exitFailure(answer, options.exits ?? [0]) ??
    textFailure(answer, options.isSelfEnding ?? false);
  return failure ?? known(answer.stdout);
}

export const readLines = (answer: Answer | undefined, options: ReadOptions = {}): Known<readonly string[]> =>
  mapKnown(readText(answer, options), (text) => text.slice(0, -1).split('\n'));

export const readJson = (answer: Answer | undefined): Known<unknown> =>
  andThen(readText(answer, { isSelfEnding: true }), (text) => {
    try {
      return known(JSON.parse(text) as unknown);
    } catch {
      return garbled(answer, 'printed invalid JSON');
    }
  });

/** The result for output that no known macOS prints; `what` completes the sentence "PROBE …". */
export const garbled = (answer: Answer | undefined, what: string): Known<never> =>
  unknown('garbled', `${answer?.probe ?? 'The probe'} ${what}.`);

const missingDetail = {
  truncated: 'the connection closed before the answer was complete',
  garbled: 'its frame is inconsistent',
  'not-asked': 'the probe did not run',
} as const;

function arrivalFailure(answer: Answer): Known<never> | undefined {
  const { probe, missing, exit } = answer;
  if (missing !== undefined) return unknown(missing, `${probe}: ${missingDetail[missing]}.`);
  if (answer.isLate) return unknown('timed-out', `${probe} did not finish before its deadline.`);
  if (answer.isTruncated) return unknown('truncated', `${probe} printed more than meshwright reads.`);
  return exit.kind === 'unknown' ? unknown('failed', `${probe}: exit status unknown (${exit.reason}).`) : undefined;
}

function exitFailure(answer: Answer, exits: readonly number[]): Known<never> | undefined {
  const { probe, exit, stdout, stderr } = answer;
  if (exit.kind === 'signalled') return unknown('failed', `${probe} was stopped by signal ${exit.signal}.`);
  if (exit.kind === 'unknown') return undefined;
  if (exit.code === 127) return unknown('tool-missing', `${probe}: this node has no such tool (exit 127).`);
  const said = `${stdout}\n${stderr}`;
  if (!exits.includes(exit.code))
    return unknown(failureReason(said), `${probe} exited with ${exit.code}${quoted(said)}`);
  if (/^### Error/m.test(said)) return unknown('failed', `${probe} exited with ${exit.code}, but${quoted(said)}`);
  return undefined;
}

const noPrivilege = /requires Full Disk Access|Operation not permitted|Permission denied|must be (?:run as )?root/i;

/** Classifies refusals by their text, because the exit codes of these tools are not specific. */
const failureReason = (said: string): UnknownReason => (noPrivilege.test(said) ? 'no-privilege' : 'failed');

function quoted(said: string): string {
  const first = said.split('\n').find((line) => line.trim() !== '');
  return first === undefined ? ' and printed nothing.' : ` and printed: ${first.trim().slice(0, 200)}`;
}

/** Rejects control characters, which no tool of ours prints, and a last line that was cut off. */
function textFailure(answer: Answer, isSelfEnding: boolean): Known<never> | undefined {
  const { probe, stdout } = answer;
  if (!answer.isUtf8) return unknown('garbled', `${probe} printed text that is not UTF-8.`);
  if (stdout === '') return unknown('empty', `${probe} printed nothing.`);
  // C0 without tab and line feed, DEL, C1.
  if (/[\0-\x08\x0b-\x1f\x7f-\x9f]/.test(stdout)) return unknown('garbled', `${probe} printed control characters.`);
  if (isSelfEnding || stdout.endsWith('\n')) return undefined;
  return unknown('truncated', `${probe} printed an incomplete last line.`);
}
