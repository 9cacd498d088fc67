/**
 * One command line that runs on the node during an observation; several facts may read its answer.
 * It must need no root, change nothing, and name its tool by an absolute {@link Word} path.
 */
export interface Probe {
  readonly name: string;
  readonly ask: readonly Word[];
  /** The node's watchdog kills it after this time. */
  readonly deadlineMs: number;
  /** Longer output (stdout and stderr each) is cut here and marked as truncated. */
  readonly maxBytes: number;
}

/** One probe's output. `stdout` and `stderr` are complete unless `isTruncated`. */
export interface Answer {
  readonly probe: string;
  readonly exit: Exit;
  readonly stdout: string;
  readonly stderr: string;
  readonly isTruncated: boolean;
  /** Whether the node's watchdog killed the probe at its deadline. */
  readonly isLate: boolean;
  /** False if the output was not UTF-8; the text then contains replacement characters. */
  readonly isUtf8: boolean;
  /** Set if no answer arrived: the frame was cut off, forged or garbled. */
  readonly missing?: 'truncated' | 'garbled' | 'not-asked';
}

/** The controller's wall clock around one observation: the node's answers were made between these two instants. */
export interface Asked {
  readonly sentAtEpochMs: number;
  readonly receivedAtEpochMs: number;
}

/**
 * A path on a node, as a Mac knows it (`/usr/bin/sw_vers`). It is data until the one renderer
 * (`node/paths/node-paths.ts`) puts the root prefix before it: empty on a Mac, a folder in the portable simulator.
 */
export interface NodePath {
  readonly kind: 'node-path';
  readonly path: string;
}

/** One word of a command line on a node: literal text, or a path that still lacks its root prefix. */
export type Word = string | NodePath;

/**
 * How a command on a node ended. Only `exited(0)` is success; `unknown` (no code arrived) is neither success nor
 * failure, and the next observation resolves it. Then the connection broke, the deadline passed, it printed too much, the
 * channel closed without a code, no channel was opened (nothing ran), or we closed the connection ourselves.
 */
export type Exit =
  | { readonly kind: 'exited'; readonly code: number }
  | { readonly kind: 'signalled'; readonly signal: string }
  | { readonly kind: 'unknown'; readonly reason: string; readonly why?: UnknownWhy };

type UnknownWhy = 'dropped' | 'late' | 'too-long' | 'no-code' | 'no-channel' | 'closed';

/** Whether the command is known to have succeeded. */
export const isSuccess = (exit: Exit): boolean => exit.kind === 'exited' && exit.code === 0;

/** An exit in words: `exit 1`, `ended by signal KILL`, `exit unknown: …`. */
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
