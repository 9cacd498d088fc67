import type { ScriptArgs } from '../../model/node-script.ts';
import { serviceValues } from '../../node/launchd-service.ts';
import { keeperData, keeperLabel, keeperPlist, keeperProgram, refusedMark } from '../../node/paths/keeper-files.ts';
import { place } from '../../node/paths/node-paths.ts';
import { fileSeal } from '../../node/put-file.ts';
import { sh } from './scripts.generated.ts';

const files = [keeperPlist, keeperProgram, keeperData];

/** Also removes the mark that macOS refused networksetup. */
export const removeKeeper = (): string =>
  sh.removeKeeper(serviceValues(keeperLabel), [...files, ...files.map(fileSeal), refusedMark, place.keeper]);

export const loadKeeper = ({ reload }: ScriptArgs['load-keeper']): string =>
  sh.loadKeeper({ ...serviceValues(keeperLabel), plist: keeperPlist, reload });
