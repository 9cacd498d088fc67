import { type Known, known } from '../../model/known.ts';
import { isLoaded } from '../../node/answers/launchd-answers.ts';
import { garbled } from '../../node/answers/read-answer.ts';
import { settingAnswer } from '../../node/probes/node-setting.ts';
import { nodeSettings } from '../../node/probes/system.ts';
import { defineFact } from '../fact.ts';

/**
 * Whether launchd starts sshd for whoever connects next. A connection that is open stays open when somebody switches
 * it off, and another program may be what answered, so that it can be off on a Mac that was just asked.
 */
export const remoteLogin = defineFact({
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
