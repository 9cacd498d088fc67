import type { Exit } from '../exit.ts';
import type { Word } from '../node-path.ts';

/**
 * One command line that is run on the node during an observation; several facts may read its answer.
 * It must need no root, change nothing, and name its tool by an absolute {@link Word} path.
 */
export interface Probe {
  readonly name: string;
  readonly ask: readonly Word[];
  /** After this many milliseconds the watchdog on the node kills it. */
  readonly deadlineMs: number;
  /** Longer output (stdout and stderr each) is cut here and marked as truncated. */
  readonly maxBytes: number;
}

/** What one probe printed. `stdout` and `stderr` are whole unless `isTruncated`. */
export interface Answer {
  readonly probe: string;
  readonly exit: Exit;
  readonly stdout: string;
  readonly stderr: string;
  readonly isTruncated: boolean;
  /** True when the watchdog on the node ended the probe at its deadline. */
  readonly isLate: boolean;
  /** False when the output was not UTF-8; the text then holds replacement characters. */
  readonly isUtf8: boolean;
  /** Set when no answer arrived at all: the frame was cut, forged or garbled. */
  readonly missing?: 'truncated' | 'garbled' | 'not-asked';
}

/** The controller's wall clock around one observation: the node's answers were made between these two instants. */
export interface Asked {
  readonly sentAtEpochMs: number;
  readonly receivedAtEpochMs: number;
}
