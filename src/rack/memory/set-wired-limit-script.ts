import type { ScriptArgs } from '../../model/node-script.ts';
import { keeperData } from '../../node/paths/keeper-files.ts';
import { sh } from './scripts.generated.ts';

export const setWiredLimit = ({ megabytes }: ScriptArgs['set-wired-limit']): string =>
  sh.setWiredLimit({ megabytes, keeper_data: keeperData });
