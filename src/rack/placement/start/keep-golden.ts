import type { ScriptArgs } from '../../../model/node-script.ts';
import { below, pathWord, tool } from '../../../node/paths/node-paths.ts';
import { goldenFile, placementFolder } from '../../../node/paths/own-paths.ts';

/** Keeps what a placement answered, and how fast, beside the record of its leader, until another start says otherwise. */
export function keepGolden({ placement, golden }: ScriptArgs['keep-golden']): string {
  const lines = Object.entries(golden).map(([key, value]) => `${key}=${value}`);
  const file = pathWord(goldenFile(placement));
  return `[ -e ${pathWord(below(placementFolder(placement), 'record'))} ] || failed no-record 'the member was not made ready'
v='${lines.join('\n')}'
if [ -e ${file} ] && [ "$(${pathWord(tool.cat)} ${file})" = "$v" ]; then unchanged; fi
write ${file} "$v$N"
changed`;
}
