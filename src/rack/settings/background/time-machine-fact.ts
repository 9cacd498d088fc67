import { known } from '../../../model/known.ts';
import { garbled } from '../../../node/answers/read-answer.ts';
import { preference } from '../../../node/probes/node-setting.ts';
import { nodeSettings } from '../../../node/probes/system.ts';
import type { Fact } from '../../fact.ts';

/** Whether Time Machine makes backups by itself. Where nobody has set it up, it does not. */
export const timeMachine: Fact<'time-machine'> = {
  name: 'time-machine',
  from: [nodeSettings],
  parse: ([answer]) => {
    const value = preference(answer, 'backups', 'AutoBackup');
    if (value.kind === 'unknown') return value;
    if (value.value === undefined || value.value === '0') return known('off');
    return value.value === '1' ? known('on') : garbled(answer, 'printed neither yes nor no of backups');
  },
};
