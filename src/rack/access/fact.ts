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

/** `sudo -n /bin/sh -s` with nothing on its standard input: exactly the form in which every change will run. */
export const sudoProbe = probe('sudo', [tool.sudo, '-n', tool.sh, '-s'], 10_000, 8_192);

/** Whether changes can run: `sudo -n /bin/sh -s` ends with 0 and says nothing, or its words on stderr say why not. */
export const sudoFact = defineFact({
  name: 'sudo',
  from: [sudoProbe],
  parse: ([answer]): Known<'allowed' | 'needs-password' | 'denied'> => {
    const said = readText(answer, { exits: [0, 1], isSelfEnding: true });
    if (said.kind === 'unknown' && said.reason !== 'empty') return said;
    if (answer?.exit.kind === 'exited' && answer.exit.code === 0) {
      return said.kind === 'unknown' ? known('allowed') : garbled(answer, 'ran a shell without input, which printed');
    }
    const stderr = answer?.stderr ?? '';
    const verdict = answer === undefined ? 'other' : classifySudo(answer.exit, stderr);
    if (verdict === 'denied' || verdict === 'needs-password') return known(verdict);
    return unknown('failed', `sudo ended with 1 and said: ${stderr.trim().slice(0, 200)}`);
  },
  text: (answer) => (answer === 'needs-password' ? 'needs a password' : answer),
});

/**
 * The folders of `PATH` for a command over SSH: what macOS gives (`/usr/bin:/bin:/usr/sbin:/sbin`) and what a file such
 * as `~/.zshenv` adds. What meshwright sends calls its tools by absolute path and sets a PATH of its own, and launchd
 * gives daemons another one, so that no rule looks at this: it is what `exec` gives to the commands of people.
 */
export const searchPathFact = defineFact({
  name: 'search-path',
  from: [nodeSettings],
  parse: ([answer]): Known<readonly string[]> => {
    const said = settingAnswer(answer, 'search-path');
    if (said.kind === 'unknown') return said;
    const { code, lines } = said.value;
    // An empty one stands for the folder that one happens to be in. @see POSIX, environment variable PATH
    const folders = lines.map((line) => (line === '' ? '.' : line));
    const isWhole = code === '0' && folders.length > 0 && folders.every(isName);
    return isWhole ? known(folders) : garbled(answer, 'printed no PATH that can be read');
  },
  text: (folders) => [folders],
});

/** Who the node takes us for: the second line of the probe, as `id -un` prints it. */
export const loginFact = defineFact({
  name: 'login',
  from: [sshConnection],
  parse: ([answer]): Known<string> =>
    andThen(readLines(answer), (lines) => {
      const [, name, ...more] = lines;
      if (name === undefined) return unknown('failed', 'id did not say who is logged in.');
      const isWhole = isAccountName(name) && more.length === 0;
      return isWhole ? known(name) : garbled(answer, 'printed no name of an account');
    }),
  text: (user) => user,
});
