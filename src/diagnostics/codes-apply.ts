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
  'gate/not-reached': {
    severity: 'error',
    summary: 'What was changed is not seen on the node.',
    cause:
      'A step said that it was done, and fresh observations until the deadline show another value: it takes longer than anybody expected, or something else on the Mac changes it back.',
    hint: 'Run it again: it looks first. If it stays so, see what the node says: meshwright logs',
  },
  'gate/not-seen': {
    severity: 'error',
    summary: 'Nobody could see whether what was changed is there.',
    cause: 'The node stopped answering, or one of its tools did, until the deadline of the run for this step.',
    hint: 'See what is unknown and why: meshwright facts',
  },
  'gate/aborted': {
    severity: 'error',
    summary: 'What was started has ended instead of becoming ready.',
    cause: 'While it was waited for, the node showed a state from which it cannot become ready any more.',
    hint: 'See what it said: meshwright logs',
  },
} as const satisfies Record<string, CodeEntry>;
