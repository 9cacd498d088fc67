import type { ScriptArgs } from '../../model/node-script.ts';
import { pathWord, tool } from '../../node/paths/node-paths.ts';
import { partingOfWired } from '../network/transaction/keeper-parting.ts';

/** Sets how much memory the GPU may wire, until the next boot. 0 is the default of macOS. */
export const setWiredLimit = ({ megabytes }: ScriptArgs['set-wired-limit']): string => `islimit() {
  [ "$(${pathWord(tool.sysctl)} -n iogpu.wired_limit_mb)" = ${megabytes} ]
}
${partingOfWired(megabytes)}
islimit && unchanged
must sysctl ${pathWord(tool.sysctl)} iogpu.wired_limit_mb=${megabytes}
islimit || failed sysctl 'sysctl took the limit and shows another one'
changed`;
