import { diagnose } from '../../diagnostics/diagnose.ts';
import { nodeSubject } from '../../model/subject.ts';
import type { Rule } from '../rule.ts';

/** A Mac that was reached, though launchd would start no sshd for the next one who comes. */
export const remoteLogin: Rule = ({ nodes }) =>
  nodes.flatMap(({ name, facts }) => {
    const seen = facts['remote-login'];
    return seen.kind === 'known' && seen.value === 'off'
      ? [
          diagnose('sharing/remote-login-off', {
            subject: nodeSubject(name),
            detail: 'launchd has no com.openssh.sshd.',
          }),
        ]
      : [];
  });
