import type { BootSession } from '../../model/facts/mac.ts';
import { type Known, known } from '../../model/known.ts';
import { isUuid, wholeNumber } from '../../node/answers/grammar.ts';
import { sysctlValues } from '../../node/answers/printed-values.ts';
import { garbled } from '../../node/answers/read-answer.ts';
import { sysctl } from '../../node/probes/system.ts';
import { defineFact } from '../fact.ts';

/**
 * Which boot this is, from
 *
 *     kern.boottime: { sec = 1790421415, usec = 985376 } Sat Sep 26 06:16:55 2026
 *     kern.bootsessionuuid: 40962879-B7EE-4F13-AF6E-E7266EF5E732
 */
export const bootSessionFact = defineFact({
  name: 'boot-session',
  from: [sysctl],
  parse: ([answer]): Known<BootSession> => {
    const values = sysctlValues(answer, ['kern.bootsessionuuid', 'kern.boottime']);
    if (values.kind === 'unknown') return values;
    const [uuid = '', time = ''] = values.value;
    const seconds = wholeNumber(/^\{ sec = (\d+), usec = \d+ \}(?: .*)?$/.exec(time)?.[1]);
    if (!isUuid(uuid)) return garbled(answer, 'printed no boot session UUID');
    if (seconds === undefined) return garbled(answer, 'printed no boot time');
    return known({ uuid, bootedAtEpochSeconds: seconds });
  },
  source: 'sysctl kern.bootsessionuuid',
});
