import { known } from '../../../model/known.ts';
import { garbled } from '../../../node/answers/read-answer.ts';
import { preference } from '../../../node/probes/node-setting.ts';
import { nodeSettings } from '../../../node/probes/system.ts';
import type { Fact } from '../../fact.ts';

/** Whether macOS updates itself. Where nobody has set the key, it does. */
export const automaticUpdates: Fact<'automatic-updates'> = {
  name: 'automatic-updates',
  from: [nodeSettings],
  parse: ([answer]) => {
    const value = preference(answer, 'updates', 'AutomaticallyInstallMacOSUpdates');
    if (value.kind === 'unknown') return value;
    if (value.value === undefined || value.value === '1') return known('on');
    return value.value === '0' ? known('off') : garbled(answer, 'printed neither yes nor no of updates');
  },
};
