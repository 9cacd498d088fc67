import type { CodeEntry } from '../../code-entry.ts';

/** Codes about secrets: where they come from, and what stands in the way. None of their texts ever holds one. */
export const secretCodes = {
  'secret/not-a-source': {
    severity: 'error',
    summary: 'A source of the password belongs here, never the password.',
    cause: 'A cluster file is committed and shown; it says where a password comes from.',
    hint: [
      'Write one of these:',
      '  password: { env: MESH_PASSWORD }        # an environment variable',
      '  password: { file: ~/.mesh-password }    # a file that only you may read',
      '  password: { command: [security, find-generic-password, -s, rack, -w] }',
      '  password: { prompt: true }              # you are asked',
    ].join('\n'),
  },
  'secret/no-program': {
    severity: 'error',
    summary: 'The command of a secret names no program.',
    cause: 'Its first word is what is started, as it stands there: no shell reads it, and an empty word is no program.',
    hint: 'Begin it with the program, such as [security, find-generic-password, -s, rack, -w].',
  },
  'secret/missing': {
    severity: 'error',
    summary: 'A password could not be had from its source.',
    cause: 'The variable is not set, the file or the program is not there, or nobody can be asked.',
    hint: 'Correct the source, then run this again.',
  },
  'secret/exposed': {
    severity: 'error',
    summary: 'Others may read the file of a password.',
    cause: 'A file that holds a password must belong to you, and nobody else may read or change it.',
    hint: 'Change the password, and the mode of the file: chmod 600 FILE',
  },
  'secret/unusable': {
    severity: 'error',
    summary: 'What came from the source is no password.',
    cause: 'It is empty, longer than 1,024 bytes, more than one line, no UTF-8 text, or holds a NUL.',
    hint: 'Put the password there as its only line.',
  },
} as const satisfies Record<string, CodeEntry>;
