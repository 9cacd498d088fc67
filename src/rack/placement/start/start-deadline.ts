import type { DesiredModel } from '../../../model/desired.ts';
import type { RankProgress } from '../observed/rank-progress.ts';

/** How long a start is waited for. */
export interface StartDeadline {
  /** Without any progress. */
  readonly stallMs: number;
  /** With progress all the time. */
  readonly boundMs: number;
}

/** What the slowest disk or cable that a model is read over gives: a tenth of what a Mac Studio's own disk does. */
const bytesPerSecond = 500_000_000;

/** How much longer than the reading itself a load may take, and what comes on top. @see runtimes: order of a mesh start, step 10 */
const timesReading = 3;
const onTopMs = 120_000;

/** What memory moves by without any work. */
const leastGrowthBytes = 1_048_576;

/**
 * How long the start of a model is waited for: as long as nothing moves, no longer than the file gives the first token;
 * while it moves, as long as its bytes may take.
 */
export function startDeadline({ files }: Pick<DesiredModel, 'files'>, firstTokenMs: number): StartDeadline {
  const bytes = files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  const readingMs = Math.ceil((bytes / bytesPerSecond) * 1_000);
  return { stallMs: firstTokenMs, boundMs: firstTokenMs + timesReading * readingMs + onTopMs };
}

/** Whether a rank has come further than it ever was: it grew, or it said something. */
export const hasProgressed = (before: RankProgress, now: RankProgress): boolean =>
  now.residentBytes > before.residentBytes + leastGrowthBytes || now.logBytes > before.logBytes;

/** The furthest that a rank has been. */
export const furthest = (before: RankProgress, now: RankProgress): RankProgress => ({
  residentBytes: Math.max(before.residentBytes, now.residentBytes),
  logBytes: Math.max(before.logBytes, now.logBytes),
});
