import type { ScriptArgs } from '../../../model/node-script.ts';
import { launchdFunctions } from '../../../node/launchd-service.ts';
import { pathWord, tool } from '../../../node/paths/node-paths.ts';
import { olderRankLog, rankLog, serviceFile } from '../../../node/paths/own-paths.ts';
import { fileSeal } from '../../../node/put-file.ts';

/** Takes away everything of a rank: service, service file with its seal, record, logs. It must not be running. */
export function removeRank({ placement }: ScriptArgs['remove-rank']): string {
  const plist = serviceFile(placement);
  const rest = [plist, fileSeal(plist), rankLog(placement), olderRankLog(placement)].map(pathWord).join(' ');
  return `${launchdFunctions(placement)}
y=
if look; then
  [ -z "$pid" ] || failed still-running "it is running as process $pid"
  bootout
  y=1
fi
for f in ${rest} "$d"; do
  [ -e "$f" ] || continue
  must rm ${pathWord(tool.rm)} -rf "$f"
  y=1
done
[ -n "$y" ] || unchanged
changed`;
}
