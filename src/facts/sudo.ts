import { known, unknown } from '../model/known.ts';
import type { Fact } from './fact.ts';
import { sudo as sudoProbe } from './probes/system.ts';
import { garbled, readText } from './read-answer.ts';

const needsPassword = /a password is required|a terminal is required to read the password/;
const denied = /is not in the sudoers file|is not allowed to (?:execute|run)|may not run sudo/;

/** Whether changes can run: `sudo -n /bin/sh -s` ends with 0 and says nothing, or its words on stderr say why not. */
export const sudo: Fact<'sudo'> = {
  name: 'sudo',
  from: [sudoProbe],
  parse: ([answer]) => {
    const said = readText(answer, { exits: [0, 1], isSelfEnding: true });
    if (said.kind === 'unknown' && said.reason !== 'empty') return said;
    if (answer?.exit.kind === 'exited' && answer.exit.code === 0) {
      return said.kind === 'unknown' ? known('allowed') : garbled(answer, 'ran a shell without input, which printed');
    }
    const stderr = answer?.stderr ?? '';
    if (denied.test(stderr)) return known('denied');
    if (needsPassword.test(stderr)) return known('needs-password');
    return unknown('failed', `sudo ended with 1 and said: ${stderr.trim().slice(0, 200)}`);
  },
};
