import { diagnose } from '../diagnostics/diagnose.ts';
import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import type { Exit } from '../model/exit.ts';
import { quoteNodeText } from './connect-failure.ts';

/** What `sudo -n` answered. `other` when the command itself ran, or sudo said something unheard of. */
export type SudoAnswer = 'allowed' | 'needs-password' | 'denied' | 'other';

/**
 * Reads the end of a `sudo -n …` command. sudo itself fails with exit 1 and a line that begins with `sudo:` or names
 * the user; a command that ran through sudo may fail with 1 as well, so exit 1 without such a line says nothing.
 * ```
 * sudo: a password is required
 * mesh is not in the sudoers file.
 * Sorry, user mesh is not allowed to execute '/bin/sh -s' as root on studio-1.
 * ```
 */
export function classifySudo(exit: Exit, stderr: string): SudoAnswer {
  if (exit.kind !== 'exited') return 'other';
  if (exit.code === 0) return 'allowed';
  if (/^sudo: a (?:terminal|password) is required|^sudo: no tty present|^sudo: .*must have a tty/mu.test(stderr)) {
    return 'needs-password';
  }
  const denials =
    /is not in the sudoers file|^Sorry, user .* (?:is not allowed to execute|may not run sudo)|^sudo: (?:PERM_|unable to initialize policy plugin|no valid sudoers|parse error|.*must be owned by uid 0)/mu;
  return exit.code === 1 && denials.test(stderr) ? 'denied' : 'other';
}

/** Says what keeps sudo from working; undefined when nothing does, or nobody knows. */
export function diagnoseSudo(label: string, user: string, exit: Exit, stderr: string): Diagnostic | undefined {
  const answer = classifySudo(exit, stderr);
  const said = quoteNodeText(stderr.trim().split('\n').at(-1) ?? '');
  const fields = { detail: `${label}: sudo -n said "${said}" to ${user}.`, subject: `node ${label}` };
  switch (answer) {
    case 'needs-password':
      return diagnose('ssh/sudo-needs-password', {
        ...fields,
        hint: `Put this line into /etc/sudoers.d/meshwright on the node (mode 0440, checked with visudo -cf):\n  ${user} ALL=(root) NOPASSWD: /bin/sh -s`,
      });
    case 'denied':
      return diagnose('ssh/sudo-denied', fields);
    case 'allowed':
    case 'other':
      return undefined;
  }
}
