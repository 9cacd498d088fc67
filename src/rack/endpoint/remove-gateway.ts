import type { ScriptArgs } from '../../model/node-script.ts';
import { doormanEndSeconds, forgotten, serviceFunctions } from '../../node/launchd-service.ts';
import { pathWord, tool } from '../../node/paths/node-paths.ts';
import {
  closedFile,
  doormanConfig,
  doormanFolder,
  doormanKeysFile,
  doormanLabel,
  doormanPlist,
  doormenFolder,
} from '../../node/paths/own-paths.ts';
import { fileSeal } from '../../node/put-file.ts';

/** Makes launchd forget a gateway, which ends it in order, and takes its files and their seals away. */
export function removeDoorman({ port, closed, keyed }: ScriptArgs['remove-doorman']): string {
  const put = [
    doormanPlist(port),
    doormanConfig(port),
    ...keyed.map((placement) => doormanKeysFile(port, placement)),
    ...closed.map((placement) => closedFile(port, placement)),
  ];
  const seals = put.map(fileSeal);
  const traces = [doormanPlist(port), ...seals, doormanFolder(port)];
  return `${serviceFunctions(doormanLabel(port), doormanEndSeconds)}
${forgotten(traces)}
${pathWord(tool.rmdir)} ${pathWord(doormenFolder)} 2>/dev/null
[ -n "$y" ] || unchanged
changed`;
}
