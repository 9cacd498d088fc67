import { type Known, known } from '../../model/known.ts';
import { isLoaded } from '../../node/answers/launchd.ts';
import { garbled } from '../../node/answers/read-answer.ts';
import { settingAnswer } from '../../node/answers/setting-answer.ts';
import { nodeSettings } from '../../node/probes/node-settings.ts';
import { defineNodeRule } from '../define-rule.ts';
import { defineFact, readValue } from '../fact.ts';

/**
 * Whether launchd starts sshd for whoever connects next. A connection that is open stays open when somebody switches
 * it off, and another program may be what answered, so that it can be off on a Mac that was just asked.
 */
const fact = defineFact({
  name: 'remote-login',
  from: [nodeSettings],
  parse: ([answer]): Known<'on' | 'off'> => {
    const print = settingAnswer(answer, 'remote-login');
    if (print.kind === 'unknown') return print;
    const loaded = isLoaded(print.value.code, print.value.lines);
    if (loaded === undefined) return garbled(answer, 'said something of Remote Login that cannot be read');
    return known(loaded ? 'on' : 'off');
  },
  source: 'launchctl print system/com.openssh.sshd',
  text: (state) => state,
});

/** Remote Login, which no file asks for. A Mac can be reached while launchd would start no sshd for the next connection. */
export const remoteLogin = {
  fact,
  ...defineNodeRule(
    {
      'sharing/remote-login-off': {
        severity: 'warning',
        summary: 'Remote Login is off: this Mac may refuse the next connection.',
        cause:
          'launchd has no com.openssh.sshd. A connection that was open before stays open, and an sshd that somebody installed beside it would still answer.',
        hint: 'System Settings > General > Sharing > Remote Login, before this connection ends; as root: launchctl enable system/com.openssh.sshd && launchctl bootstrap system /System/Library/LaunchDaemons/ssh.plist',
        role: 'told',
        facts: [fact],
      },
    },
    ({ facts }) =>
      readValue(facts, fact) === 'off'
        ? { code: 'sharing/remote-login-off', detail: 'launchd has no com.openssh.sshd.' }
        : [],
  ),
};
