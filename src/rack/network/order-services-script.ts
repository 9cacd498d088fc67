import type { ScriptArgs } from '../../model/node-script.ts';
import { leaveValues } from '../../node/paths/keeper-files.ts';
import { sh } from './scripts.generated.ts';

export const orderServices = ({ last, keeper }: ScriptArgs['order-services']): string =>
  sh.orderServices({ ...leaveValues(keeper), last: ` ${last.join(' ')} ` });
