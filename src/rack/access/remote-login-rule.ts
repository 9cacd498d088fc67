import { diagnose } from '../../diagnostics/diagnose.ts';
import { nodeSubject } from '../../model/subject.ts';
import { defineRule } from '../define-rule.ts';
import { read } from '../fact.ts';
import { remoteLogin as fact } from './remote-login-fact.ts';

/** A Mac that was reached, though launchd would start no sshd for the next connection. */
export const remoteLogin = defineRule(
  {
    'sharing/remote-login-off': {
      severity: 'warning',
      summary: 'Remote Login is off: this Mac may refuse the next connection.',
      cause:
        'launchd has no com.openssh.sshd. A connection that was open before stays open, and an sshd that somebody installed beside it would still answer.',
      hint: 'System Settings > General > Sharing > Remote Login, before this connection ends; as root: launchctl enable system/com.openssh.sshd && launchctl bootstrap system /System/Library/LaunchDaemons/ssh.plist',
      role: 'told',
      facts: [fact.name],
    },
  },
  ({ nodes }, codes) =>
    nodes
      .filter(({ facts }) => {
        const seen = read(facts, fact);
        return seen.kind === 'known' && seen.value === 'off';
      })
      .map(({ name }) =>
        diagnose(codes['sharing/remote-login-off'], {
          subject: nodeSubject(name),
          detail: 'launchd has no com.openssh.sshd.',
        }),
      ),
);
