import { exitWords, isExitReason } from '../model/facts/daemons.ts';
import { given } from '../model/given.ts';
import type { NodeName } from '../model/node.ts';
import { accessLines } from '../node/endpoint/request-lines.ts';
import type { FailureSignature } from './contract/driver.ts';

export interface ClassifiedLine {
  /** Index of the line in the log. */
  readonly index: number;
  /** The line, with its reason from the traceback if it ends without one. */
  readonly line: string;
  readonly signature: FailureSignature;
}

/** All lines that match a signature, in log order, each with the first matching signature. */
export const classifyLog = (
  signatures: readonly FailureSignature[],
  lines: readonly string[],
): readonly ClassifiedLine[] =>
  lines.flatMap((line, index) => {
    const signature = signatures.find(({ pattern }) => pattern.test(line));
    return signature === undefined ? [] : [{ index, line: withReason(lines, index), signature }];
  });

/** A line. If it ends without a reason, the name of an exception without text follows: the end of its traceback. */
function withReason(lines: readonly string[], index: number): string {
  const line = lines[index] ?? '';
  const error = / $/.test(line) ? lines.slice(index + 1).find((one) => /^[\w.]+(?:Error|Exception)$/.test(one)) : '';
  return `${line}${error ?? ''}`;
}

/** The first line that reports a failure. Lines whose action is to wait do not count. */
export const firstFailure = (
  signatures: readonly FailureSignature[],
  lines: readonly string[],
): ClassifiedLine | undefined => classifyLog(signatures, lines).find(({ signature }) => signature.action !== 'wait');

/** The first line after which this rank never answers again, although its process runs. */
export function finalLine(signatures: readonly FailureSignature[], lines: readonly string[]): string | undefined {
  const finals = signatures.filter(({ isFinal }) => isFinal === true);
  return classifyLog(finals, lines)[0]?.line;
}

/** Words that programs print when they fail, such as `RuntimeError: `, `fatal error`, `Abort trap`, `GGML_ASSERT`. */
const complaint =
  /error\b|exception|fatal|abort|assert|panic|traceback|terminat|killed|fail|refused|denied|cannot|can't/i;

/** Lines of a traceback, HTTP requests and their bodies, which tell nothing or contain a client's text. */
const noise = new RegExp(
  `^ *File "|^Traceback |${accessLines}|\\b(?:prompts?|messages|content|body|request)\\b["']?\\s*[:=]`,
  'i',
);

const mostTelling = 3;

/** The last lines that look like errors, oldest first; without any, the last lines. Never a client's request. */
export function tellingLines(lines: readonly string[]): readonly string[] {
  const own = lines.filter((line) => line.trim() !== '' && !noise.test(line));
  const telling = own.filter((line) => complaint.test(line));
  return (telling.length === 0 ? own : telling).slice(-mostTelling);
}

/** Information about one rank after a failed start. */
export interface RankSaid {
  readonly node: NodeName;
  readonly rank: number;
  /** The exit of the rank's process; absent while it runs or if unknown. */
  readonly exit?: string;
  /** Its log lines since the start. */
  readonly lines: readonly string[];
}

/** The rank that failed first, with the line that shows the reason, if any. */
export interface FailingRank {
  readonly said: RankSaid;
  readonly failure?: ClassifiedLine;
}

/**
 * The rank that most likely failed first. In order of preference: a rank that reports its own failure, one that only
 * exited, and one that only complains about others. The lowest rank wins a tie. A rank that neither exited nor logged
 * anything does not count.
 */
export function firstFailingRank(
  signatures: readonly FailureSignature[],
  ranks: readonly RankSaid[],
): FailingRank | undefined {
  const judged = ranks.map((said) => ({ said, ...given({ failure: firstFailure(signatures, said.lines) }) }));
  return judged
    .filter((one) => guilt(one) < noGuilt)
    .toSorted((a, b) => guilt(a) - guilt(b) || a.said.rank - b.said.rank)[0];
}

const noGuilt = 4;

/** Exit status 0 is a reaction to another rank's failure. A rank that macOS ended did not react to anything. */
function guilt({ said: { exit }, failure }: FailingRank): number {
  if (isExitReason(exit)) return -1;
  const isOver = exit !== undefined && exit !== '0';
  const isOwn = failure !== undefined && failure.signature.action !== 'read-other-ranks';
  if (isOwn) return isOver ? 0 : 1;
  if (isOver) return failure === undefined ? 2 : 3;
  return failure === undefined ? noGuilt : 3;
}

/** `rank 1 on studio-2 exited (1)` or `rank 1 on studio-2 was ended by a signal (Killed: 9)`. */
export const rankWords = ({ node, rank, exit }: RankSaid): string =>
  `rank ${rank} on ${node}${exit === undefined ? '' : ` ${exitWords(exit)}`}`;
