import type { CodeEntry } from './code-entry.ts';

/** Codes about the command line and meshwright itself. */
export const toolCodes = {
  'cli/no-cluster-file': {
    severity: 'error',
    summary: 'There is no cluster file.',
    cause: 'Neither -f nor MESHWRIGHT_FILE is given, and no cluster.yaml lies in this folder or above it.',
    hint: 'Say which one: meshwright -f path/to/cluster.yaml …',
  },
} as const satisfies Record<string, CodeEntry>;
