import { andThen, type Known, known } from '../../model/known.ts';
import { isLoaded } from '../../node/answers/launchd.ts';
import { garbled } from '../../node/answers/read-answer.ts';
import { settingAnswer } from '../../node/answers/setting-answer.ts';
import { nodeSettings } from '../../node/probes/node-settings.ts';
import { defineNodeRule } from '../define-rule.ts';
import { defineFact, readValue } from '../fact.ts';

/**
 * `on` if launchd starts sshd for the next connection. It can be off on a Mac that has just answered: an open
 * connection stays open when Remote Login is switched off, and another program may have answered.
 */
const fact = defineFact({
  name: 'remote-login',
  from: [nodeSettings],
  parse: ([answer]): Known<'on' | 'off'> =>
    andThen(settingAnswer(answer, 'remote-login'), ({ code, lines }) => {
      const loaded = isLoaded(code, lines);
      if (loaded === undefined) return garbled(answer, 'printed an unreadable state of Remote Login');
      return known(loaded ? 'on' : 'off');
    }),
  source: 'launchctl print system/com.openssh.sshd',
  text: (state) => state,
});

/** Remote Login, which the file cannot set. A Mac may be reachable although launchd starts no sshd for new connections. */
export const remoteLogin = {
  fact,
  ...defineNodeRule(
    {
      'sharing/remote-login-off': {
        severity: 'warning',
        summary: 'Remote Login is off: this Mac may refuse the next connection.',
        cause:
          'launchd has no com.openssh.sshd. Open connections stay open, and a separately installed sshd would still answer.',
        hint: 'Before this connection closes, switch on Remote Login in System Settings > General > Sharing, or run as root: `launchctl enable system/com.openssh.sshd && launchctl bootstrap system /System/Library/LaunchDaemons/ssh.plist`',
        facts: [fact],
      },
    },
    ({ facts }) =>
      readValue(facts, fact) === 'off'
        ? { code: 'sharing/remote-login-off', detail: 'launchd has not loaded com.openssh.sshd.' }
        : [],
  ),
};
