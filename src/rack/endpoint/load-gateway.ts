import type { ScriptArgs } from '../../model/node-script.ts';
import { bootstrapped, doormanEndSeconds, serviceFunctions } from '../../node/launchd-service.ts';
import { ownerWord, refuseRoot } from '../../node/owner-word.ts';
import { pathWord, place, tool } from '../../node/paths/node-paths.ts';
import {
  closedFolder,
  countsFolder,
  doormanKeysFile,
  doormanLabel,
  doormanLog,
  doormanPlist,
  doormanStatusStart,
  doormanStatusUrl,
} from '../../node/paths/own-paths.ts';
import { fileSeal } from '../../node/put-file.ts';
import { quote } from '../../node/quote.ts';
import { sh } from '../../node/shell/scripts.generated.ts';

/** Looks for its process, ten in a second. */
const looks = 100;

/** Looks for its answer, two in a second. */
const answers = 40;

/** Whoever answers at the port has to be a doorman; it never is while somebody else listens there. */
const untilItAnswers = (port: number): string => `
n=0
while :; do
  x=$(${pathWord(tool.curl)} -q -s --noproxy '*' -m 2 ${doormanStatusUrl(port)})
  case $x in ('${doormanStatusStart}'*) break ;; esac
  n=$((n + 1))
  [ "$n" -lt ${answers} ] || failed not-listening 'the doorman does not listen on port ${port}'
  ${pathWord(tool.sleep)} 0.5
done`;

/** Takes away what opened placements that are not behind it any more. */
const withoutKeys = (port: number, left: readonly string[]): string =>
  left
    .map((placement) => doormanKeysFile(port, placement))
    .map((file) => `must rm ${pathWord(tool.rm)} -f ${pathWord(file)} ${pathWord(fileSeal(file))}\n`)
    .join('');

/**
 * Makes launchd load a gateway, whose files were put before, and waits until its process is there, and until it answers
 * at its port unless `isTaken`: a rank of ours, which this run will move, still has that port. With `reload` what
 * launchd knows of it is forgotten first, which ends it in order; then the key files of placements that have `left` it
 * are taken away. Its log and the folder of its counts belong to whoever
 * it runs as.
 *
 * @see launchctl(1): `enable` undoes a `disable` that outlives bootstraps; bootstrap ends with 5 where it is loaded
 */
export const loadDoorman = ({
  port,
  reload,
  isTaken,
  left,
  user,
}: ScriptArgs['load-doorman']): string => `${serviceFunctions(doormanLabel(port), doormanEndSeconds)}
p=${pathWord(doormanPlist(port))}
[ -e "$p" ] || failed no-doorman "there is no $p"
${refuseRoot(user)}if look; then
  ${reload ? 'bootout' : '[ -z "$pid" ] || unchanged'}
fi
${withoutKeys(port, left)}must mkdir ${pathWord(tool.mkdir)} -p ${pathWord(closedFolder(port))} ${pathWord(countsFolder(port))} ${pathWord(place.log)}
${sh.ownLog({})}
ownlog ${pathWord(doormanLog(port))} ${quote(user)}
must chown ${pathWord(tool.chown)} ${ownerWord(user)} ${pathWord(countsFolder(port))}
must launchctl ${pathWord(tool.launchctl)} enable "$L"
${bootstrapped}
n=0
until look && [ -n "$pid" ]; do
  n=$((n + 1))
  [ "$n" -lt ${looks} ] || failed doorman 'the doorman does not stay; its log says why'
  ${pathWord(tool.sleep)} 0.1
done${isTaken ? '' : untilItAnswers(port)}
changed`;
