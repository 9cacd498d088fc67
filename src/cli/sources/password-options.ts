import type { VerbOption } from '../verb/verb.ts';

/** Options of verbs that need the password of an account: before what the file says. */
export const passwordOptions: readonly VerbOption[] = [
  { flags: '--password-env <name>', text: 'the environment variable that holds the password' },
  { flags: '--password-file <path>', text: 'the file that holds it, which only you may read' },
];
