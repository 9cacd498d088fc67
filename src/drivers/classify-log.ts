import { exitWords } from '../model/facts/daemons.ts';
import { given } from '../model/given.ts';
import type { NodeName } from '../model/node.ts';
import type { FailureSignature } from './contract/driver.ts';

/** A line of a log that means something. */
export interface ClassifiedLine {
  /** Its place among the lines. */
  readonly index: number;
  readonly line: string;
  readonly signature: FailureSignature;
}

/** Every line that a signature knows, each by the first signature that fits, in the order of the log. */
export const classifyLog = (
  signatures: readonly FailureSignature[],
  lines: readonly string[],
): readonly ClassifiedLine[] =>
  lines.flatMap((line, index) => {
    const signature = signatures.find(({ pattern }) => pattern.test(line));
    return signature === undefined ? [] : [{ index, line, signature }];
  });

/** The first line that tells of a failure: one that only says to wait is none. */
export const firstFailure = (
  signatures: readonly FailureSignature[],
  lines: readonly string[],
): ClassifiedLine | undefined => classifyLog(signatures, lines).find(({ signature }) => signature.action !== 'wait');

/** What is known of one rank after a start came to nothing. */
export interface RankSaid {
  readonly node: NodeName;
  readonly rank: number;
  /** How its process ended; absent while it runs, and where nobody knows. */
  readonly exit?: string;
  /** What it has said since its start. */
  readonly lines: readonly string[];
}

/** The rank that failed first, with the line that tells why, where one does. */
export interface FailingRank {
  readonly said: RankSaid;
  readonly failure?: ClassifiedLine;
}

/**
 * The rank that failed first, as far as that can be told: one that says so itself, before one that only ended, before
 * one that only complains of the others. Among equals the one of the lowest rank; no exit and no words make none.
 */
export function firstFailingRank(
  signatures: readonly FailureSignature[],
  ranks: readonly RankSaid[],
): FailingRank | undefined {
  const judged = ranks.map((said): FailingRank => {
    const failure = firstFailure(signatures, said.lines);
    return { said, ...given({ failure }) };
  });
  const ordered = judged
    .filter((one) => guilt(one) < noGuilt)
    .toSorted((a, b) => guilt(a) - guilt(b) || a.said.rank - b.said.rank);
  return ordered[0];
}

const noGuilt = 4;

/** An orderly end (0) is what the others made of it, not what broke them. */
function guilt({ said: { exit }, failure }: FailingRank): number {
  const isOver = exit !== undefined && exit !== '0';
  const isOwn = failure !== undefined && failure.signature.action !== 'read-other-ranks';
  if (isOwn) return isOver ? 0 : 1;
  if (isOver) return failure === undefined ? 2 : 3;
  return failure === undefined ? noGuilt : 3;
}

/** `rank 1 on studio-2 exited (1)` or `… was ended by a signal (Killed: 9)`: which rank it is, and how it ended. */
export const rankWords = ({ node, rank, exit }: RankSaid): string =>
  `rank ${rank} on ${node}${exit === undefined ? '' : ` ${exitWords(exit)}`}`;
