import type { CodeEntry } from './code-entry.ts';

/** Codes about `cluster.yaml` and `cluster.lock`. */
export const fileCodes = {
  'yaml/syntax': {
    severity: 'error',
    summary: 'This is not valid YAML.',
    cause: 'The file breaks the grammar of YAML 1.2.',
    hint: 'Correct the marked place; `meshwright schema` has an example of every key.',
  },
} as const satisfies Record<string, CodeEntry>;
