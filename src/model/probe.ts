/**
 * One command line that runs on the node during an observation; several facts can read its answer. It must not require
 * root or change anything, and its tool must be an absolute {@link Word} path.
 */
export interface Probe {
  readonly name: string;
  readonly ask: readonly Word[];
  /** The node's watchdog kills the probe after this time. */
  readonly deadlineMs: number;
  /** Output beyond this limit (stdout and stderr each) is cut and marked as truncated. */
  readonly maxBytes: number;
}

/** One probe's output. `stdout` and `stderr` are complete unless `isTruncated`. */
export interface Answer {
  readonly probe: string;
  readonly exit: Exit;
  readonly stdout: string;
  readonly stderr: string;
  readonly isTruncated: boolean;
  /** True if the node's watchdog killed the probe at its deadline. */
  readonly isLate: boolean;
  /** False if the output was not UTF-8; the text then contains replacement characters. */
  readonly isUtf8: boolean;
  /** Set if there was no valid answer: its frame was cut off, forged or garbled, or the probe did not run. */
  readonly missing?: 'truncated' | 'garbled' | 'not-asked';
}

/** The controller's wall clock around one observation: the node answered between these two times. */
export interface Asked {
  readonly sentAtEpochMs: number;
  readonly receivedAtEpochMs: number;
}

/**
 * A path on a node, as it is on a Mac (`/usr/bin/sw_vers`). Only `node/paths/node-paths.ts` renders paths, by adding
 * the root prefix: empty on a Mac, a folder in the portable simulator.
 */
export interface NodePath {
  readonly kind: 'node-path';
  readonly path: string;
}

/** One word of a command line on a node: literal text, or a path without its root prefix. */
export type Word = string | NodePath;

/**
 * How a command on a node ended. Only `exited(0)` is success. `unknown` (no code arrived) is neither success nor
 * failure: the next observation decides. Reasons for `unknown`: the connection broke, the deadline passed, the output
 * was too long, the channel closed without a code, no channel was opened (nothing ran), or we closed the connection.
 */
export type Exit =
  | { readonly kind: 'exited'; readonly code: number }
  | { readonly kind: 'signalled'; readonly signal: string }
  | { readonly kind: 'unknown'; readonly reason: string; readonly why?: UnknownWhy };

type UnknownWhy = 'dropped' | 'late' | 'too-long' | 'no-code' | 'no-channel' | 'closed';

export const isSuccess = (exit: Exit): boolean => exit.kind === 'exited' && exit.code === 0;

/** Formats an exit: `exit 1`, `ended by signal KILL`, `exit unknown: …`. */
export function exitText(exit: Exit): string {
  switch (exit.kind) {
    case 'exited':
      return `exit ${exit.code}`;
    case 'signalled':
      return `ended by signal ${exit.signal}`;
    case 'unknown':
      return `exit unknown: ${exit.reason}`;
  }
}
