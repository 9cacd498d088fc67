import { type Known, known, unknown } from '../../model/known.ts';
import { garbled, readLines } from '../../node/answers/read-answer.ts';
import { sshConnection } from '../../node/probes/network.ts';
import { defineFact } from '../fact.ts';

/** Who the node takes us for: the second line of the probe, as `id -un` prints it. */
export const loginFact = defineFact({
  name: 'login',
  from: [sshConnection],
  parse: ([answer]): Known<string> => {
    const lines = readLines(answer);
    if (lines.kind === 'unknown') return lines;
    const [, name, ...more] = lines.value;
    if (name === undefined) return unknown('failed', 'id did not say who is logged in.');
    const isName = /^[A-Za-z_][A-Za-z0-9_.-]{0,31}$/.test(name) && more.length === 0;
    return isName ? known(name) : garbled(answer, 'printed no name of an account');
  },
});
