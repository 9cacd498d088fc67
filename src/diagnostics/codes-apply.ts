import type { CodeEntry } from './code-entry.ts';

/** Codes about running a plan. */
export const applyCodes = {
  'journal/cannot-write': {
    severity: 'error',
    summary: 'The journal of the run cannot be written.',
    cause:
      'The state folder is missing, full or read-only for this user. Nothing is sent that is not written down first.',
    hint: 'Make room in the state folder, or name another one: MESHWRIGHT_STATE=FOLDER',
  },
  'journal/cannot-read': {
    severity: 'error',
    summary: 'The journals of earlier runs cannot be read.',
    cause: 'A file of the state folder belongs to another user, or is none.',
    hint: 'Check who owns the named path. Nothing but history and logs needs it.',
  },
} as const satisfies Record<string, CodeEntry>;
