import type { CodeEntry } from './code-entry.ts';

/** Codes about the simulated fleet. */
export const simCodes = {
  'sim/not-running': {
    severity: 'error',
    summary: 'The simulated fleet is not running.',
    cause: '`--sim` was given, and no simulator answers for this cluster file.',
    hint: 'Start it: meshwright sim up',
  },
} as const satisfies Record<string, CodeEntry>;
