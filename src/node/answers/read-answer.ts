/**
 * How an answer of a node is read: exit, stdout and stderr are judged together before a fact reads any of it, and what is
 * narrowed from JSON is the value or `undefined`, never an exception.
 */
import { andThen, type Known, known, mapKnown, type UnknownReason, unknown } from '../../model/known.ts';
import type { Answer } from '../../model/probe.ts';

/** A JSON object. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** The value as an object, unless it is an array or no object at all. */
export const asObject = (value: unknown): JsonObject | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;

/** The value as a list. */
export const asList = (value: unknown): readonly unknown[] | undefined =>
  Array.isArray(value) ? (value as readonly unknown[]) : undefined;

/** The object's own text under a key. */
export function textOf(object: JsonObject, key: string): string | undefined {
  const value = Object.hasOwn(object, key) ? object[key] : undefined;
  return typeof value === 'string' ? value : undefined;
}

/** How a tool differs from the rest. */
interface ReadOptions {
  /** Exit codes after which stdout still counts; only 0 unless given. */
  readonly exits?: readonly number[];
  /** True where the text shows by itself that it is whole, as JSON does; else it must end with a line end. */
  readonly isSelfEnding?: boolean;
}

/**
 * The text of an answer that can be believed: it arrived whole and in time, the tool ended well, and the text is
 * clean and ends with a line end. Else why not. Some Apple tools print `### Error` and exit 0 (seen on macOS 26.6.1).
 */
export function readText(answer: Answer | undefined, options: ReadOptions = {}): Known<string> {
  if (answer === undefined) return unknown('not-asked', 'The probe was not asked.');
  const failure =
    arrivalFailure(answer) ??
    exitFailure(answer, options.exits ?? [0]) ??
    textFailure(answer, options.isSelfEnding ?? false);
  return failure ?? known(answer.stdout);
}

/** The lines of an answer that can be believed, without their line ends. */
export const readLines = (answer: Answer | undefined, options: ReadOptions = {}): Known<readonly string[]> =>
  mapKnown(readText(answer, options), (text) => text.slice(0, -1).split('\n'));

/** The parsed JSON of an answer that can be believed; anything that is no JSON is garbled. */
export const readJson = (answer: Answer | undefined): Known<unknown> =>
  andThen(readText(answer, { isSelfEnding: true }), (text) => {
    try {
      return known(JSON.parse(text) as unknown);
    } catch {
      return garbled(answer, 'printed something that is no JSON');
    }
  });

/** An answer that no known macOS prints; `what` completes the sentence "PROBE …". */
export const garbled = (answer: Answer | undefined, what: string): Known<never> =>
  unknown('garbled', `${answer?.probe ?? 'The probe'} ${what}.`);

const missingDetail = {
  truncated: 'the connection ended inside its answer',
  garbled: 'its frame contradicts itself',
  'not-asked': 'it was not run',
} as const;

function arrivalFailure(answer: Answer): Known<never> | undefined {
  const { probe, missing, exit } = answer;
  if (missing !== undefined) return unknown(missing, `${probe}: ${missingDetail[missing]}.`);
  if (answer.isLate) return unknown('timed-out', `${probe} did not end before its deadline.`);
  if (answer.isTruncated) return unknown('truncated', `${probe} printed more than can be read.`);
  return exit.kind === 'unknown' ? unknown('failed', `${probe} ended nobody knows how: ${exit.reason}.`) : undefined;
}

function exitFailure(answer: Answer, exits: readonly number[]): Known<never> | undefined {
  const { probe, exit, stdout, stderr } = answer;
  if (exit.kind === 'signalled') return unknown('failed', `${probe} was ended by signal ${exit.signal}.`);
  if (exit.kind === 'unknown') return undefined;
  if (exit.code === 127) return unknown('tool-missing', `${probe}: this node has no such tool (exit 127).`);
  const said = `${stdout}\n${stderr}`;
  if (!exits.includes(exit.code))
    return unknown(failureReason(said), `${probe} ended with ${exit.code}${quoted(said)}`);
  if (/^### Error/m.test(said)) return unknown('failed', `${probe} ended with ${exit.code}, yet${quoted(said)}`);
  return undefined;
}

const noPrivilege = /requires Full Disk Access|Operation not permitted|Permission denied|must be (?:run as )?root/i;

/** Refusals by their text: the exit codes of these tools mean nothing. */
const failureReason = (said: string): UnknownReason => (noPrivilege.test(said) ? 'no-privilege' : 'failed');

/** The first line that says anything, at most 200 characters. */
function quoted(said: string): string {
  const first = said.split('\n').find((line) => line.trim() !== '');
  return first === undefined ? ' and said nothing.' : ` and said: ${first.trim().slice(0, 200)}`;
}

/** No tool that is asked prints control characters; a line without its end is the rest of a longer one. */
function textFailure(answer: Answer, isSelfEnding: boolean): Known<never> | undefined {
  const { probe, stdout } = answer;
  if (!answer.isUtf8) return unknown('garbled', `${probe} printed something that is not UTF-8.`);
  if (stdout === '') return unknown('empty', `${probe} printed nothing.`);
  // C0 without tab and line feed, DEL, C1.
  if (/[\0-\x08\x0b-\x1f\x7f-\x9f]/.test(stdout)) return unknown('garbled', `${probe} printed control characters.`);
  if (isSelfEnding || stdout.endsWith('\n')) return undefined;
  return unknown('truncated', `${probe} ended in the middle of a line.`);
}
