import { andThen, type Known, known, unknown } from '../../model/known.ts';
import { isName } from '../../node/answers/grammar.ts';
import { garbled, readLines, readText } from '../../node/answers/read-answer.ts';
import { settingAnswer } from '../../node/answers/setting-answer.ts';
import { tool } from '../../node/paths/node-paths.ts';
import { nodeSettings } from '../../node/probes/node-settings.ts';
import { probe } from '../../node/probes/probe.ts';
import { classifySudo } from '../../node/sudo-answer.ts';
import { isAccountName } from '../accounts/fact.ts';
import { defineFact } from '../fact.ts';
import { sshConnection } from '../network/interfaces-fact.ts';

/** `sudo -n /bin/sh -s` with empty standard input. Every change runs in this form. */
export const sudoProbe = probe('sudo', [tool.sudo, '-n', tool.sh, '-s'], 10_000, 8_192);

/** `allowed` if `sudo -n /bin/sh -s` exits with 0 and prints nothing; otherwise stderr says why changes cannot run. */
export const sudoFact = defineFact({
  name: 'sudo',
  from: [sudoProbe],
  parse: ([answer]): Known<'allowed' | 'needs-password' | 'denied'> => {
    const said = readText(answer, { exits: [0, 1], isSelfEnding: true });
    if (said.kind === 'unknown' && said.reason !== 'empty') return said;
    if (answer?.exit.kind === 'exited' && answer.exit.code === 0) {
      return said.kind === 'unknown'
        ? known('allowed')
        : garbled(answer, 'ran a shell without input, which printed something');
    }
    const stderr = answer?.stderr ?? '';
    const verdict = answer === undefined ? 'other' : classifySudo(answer.exit, stderr);
    if (verdict === 'denied' || verdict === 'needs-password') return known(verdict);
    return unknown('failed', `sudo exited with 1: ${stderr.trim().slice(0, 200)}`);
  },
  text: (answer) => (answer === 'needs-password' ? 'needs a password' : answer),
});

/**
 * The folders of `PATH` for a command over SSH: the macOS default (`/usr/bin:/bin:/usr/sbin:/sbin`) and additions by a
 * file such as `~/.zshenv`. They matter only for commands that people run with `exec`, so no rule reads this fact:
 * meshwright's own commands use absolute paths, and launchd gives daemons a different PATH.
 */
export const searchPathFact = defineFact({
  name: 'search-path',
  from: [nodeSettings],
  parse: ([answer]): Known<readonly string[]> =>
    andThen(settingAnswer(answer, 'search-path'), ({ code, lines }) => {
      // An empty entry means the current folder. @see POSIX, environment variable PATH
      const folders = lines.map((line) => (line === '' ? '.' : line));
      const isWhole = code === '0' && folders.length > 0 && folders.every(isName);
      return isWhole ? known(folders) : garbled(answer, 'printed no readable PATH');
    }),
  text: (folders) => [folders],
});

/** The account that ssh logs in as, from `id -un`: the second line of the probe. */
export const loginFact = defineFact({
  name: 'login',
  from: [sshConnection],
  parse: ([answer]): Known<string> =>
    andThen(readLines(answer), (lines) => {
      const [, name, ...more] = lines;
      if (name === undefined) return unknown('failed', 'id did not print who is logged in.');
      const isWhole = isAccountName(name) && more.length === 0;
      return isWhole ? known(name) : garbled(answer, 'printed no account name');
    }),
  text: (user) => user,
});
