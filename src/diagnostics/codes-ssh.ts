import type { CodeEntry } from './code-entry.ts';

/** Codes about reaching a node. */
export const sshCodes = {
  'ssh/unreachable': {
    severity: 'error',
    summary: 'The node did not answer.',
    cause: 'No route, no name, or no answer before the connect deadline.',
    hint: 'Check that the Mac is on and that Remote Login is enabled; then try `ssh` to the same address.',
  },
} as const satisfies Record<string, CodeEntry>;
