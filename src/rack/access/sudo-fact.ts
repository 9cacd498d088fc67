import { type Known, known, unknown } from '../../model/known.ts';
import { garbled, readText } from '../../node/answers/read-answer.ts';
import { sudo as sudoProbe } from '../../node/probes/system.ts';
import { classifySudo } from '../../node/sudo-answer.ts';
import { defineFact } from '../fact.ts';

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
});
