/**
 * Why nobody knows how a command ended: the connection broke off, the deadline passed, it printed too much, the channel
 * was closed without a code, no channel was opened (nothing ran), or we closed the connection ourselves.
 */
export type UnknownWhy = 'dropped' | 'late' | 'too-long' | 'no-code' | 'no-channel' | 'closed';

/**
 * How a command on a node ended. Only `exited(0)` is success; `unknown` (the connection dropped, the code never
 * came) is neither success nor failure and is resolved by looking again.
 */
export type Exit =
  | { readonly kind: 'exited'; readonly code: number }
  | { readonly kind: 'signalled'; readonly signal: string }
  | { readonly kind: 'unknown'; readonly reason: string; readonly why?: UnknownWhy };

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
