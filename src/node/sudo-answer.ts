import type { Exit } from '../model/probe.ts';

/**
 * The result of `sudo -n`. `needs-terminal` means `requiretty` in a sudoers file, `broken` means that sudo works for no
 * account, and `other` means that the command itself ran or that the message is unknown.
 */
export type SudoAnswer = 'allowed' | 'needs-password' | 'needs-terminal' | 'denied' | 'broken' | 'other';

const needsTerminal = /^sudo: (?:sorry, )?you must have a tty to run sudo/mu;
const needsPassword = /^sudo: (?:a (?:terminal|password) is required|no tty present)/mu;
const denied =
  /is not in the sudoers file|^Sorry, user .* (?:is not allowed to (?:execute|run)|may not run sudo)|^sudo: .* is not allowed to (?:execute|run)/mu;

const broken =
  /^sudo: (?:PERM_|unable to initialize policy plugin|no valid sudoers|parse error|.*must be owned by uid 0|error initializing audit plugin)/mu;

/**
 * Classifies the end of a `sudo -n …` command in the C locale. sudo itself fails with exit 1 and a line that starts
 * with `sudo:` or names the user. A command that ran through sudo may exit with 1 as well, so exit 1 without such a
 * line is inconclusive.
 * ```
 * sudo: a password is required
 * mesh is not in the sudoers file.
 * Sorry, user mesh is not allowed to execute '/bin/sh -s' as root on studio-1.
 * ```
 */
export function classifySudo(exit: Exit, stderr: string): SudoAnswer {
  if (exit.kind !== 'exited') return 'other';
  if (exit.code === 0) return 'allowed';
  if (exit.code !== 1) return 'other';
  if (needsTerminal.test(stderr)) return 'needs-terminal';
  if (denied.test(stderr)) return 'denied';
  if (needsPassword.test(stderr)) return 'needs-password';
  return broken.test(stderr) ? 'broken' : 'other';
}

const wrongPassword = /^Sorry, try again\.|^sudo: \d+ incorrect password attempt/mu;

/** Whether `sudo -S` rejected the password on its standard input. */
export const isPasswordWrong = (stderr: string): boolean => wrongPassword.test(stderr);

/** The sudoers line that lets an account run meshwright's scripts as root, and nothing else. */
export const sudoRule = (user: string): string => `${user} ALL=(root) NOPASSWD: /bin/sh -s`;
