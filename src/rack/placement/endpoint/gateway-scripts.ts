import type { ScriptArgs } from '../../../model/node-script.ts';
import { bootstrapped, doormanEndSeconds, forgotten, serviceFunctions } from '../../../node/launchd-service.ts';
import { ownerWord, refuseRoot } from '../../../node/owner-word.ts';
import { pathWord, place, tool } from '../../../node/paths/node-paths.ts';
import {
  closedFile,
  closedFolder,
  countsFolder,
  doormanConfig,
  doormanFolder,
  doormanKeysFile,
  doormanLabel,
  doormanLog,
  doormanPlist,
  doormanStatusStart,
  doormanStatusUrl,
  doormenFolder,
} from '../../../node/paths/own-paths.ts';
import { fileSeal } from '../../../node/put-file.ts';
import { quote } from '../../../node/quote.ts';
import { sh } from '../../../node/shell/scripts.generated.ts';

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

/** Milliseconds between two looks at who is still inside. */
const stepMs = 250;

/** Whether a doorman that nobody reaches at its port has no process either; what launchd does not say is no answer. */
const noProcess = (port: number): string => `isgone() {
  o=$(${pathWord(tool.launchctl)} print "system/${doormanLabel(port)}" 2>&1) || {
    case $o in (*'Could not find service'*) return 0 ;; esac
    return 1
  }
  printf '%s\\n' "$o" | ${pathWord(tool.awk)} '/^(\\t|    )state = / { s = 1 }
/^(\\t|    )pid = / { p = 1 }
END { exit !(s && !p) }'
}`;

/**
 * Waits until no client of a placement is inside the gateway any more, or the time is over; `left=` says how many
 * there are then, or `unknown`. Only where nothing listens at its port and it has no process it is known without an
 * answer that nobody is inside. @see curl(1): exit 7 is a connection that was refused
 */
export const drainDoor = ({ port, placement, waitMs }: ScriptArgs['drain-door']): string => `${noProcess(port)}
n=0
while :; do
  x=$(${pathWord(tool.curl)} -q -s --noproxy '*' -m 2 http://127.0.0.1:${port}/doorman/inside/${placement})
  e=$?
  case $e:$x in
    (0:0) break ;;
    (0:*[!0-9]* | 0:) x=unknown ;;
    (0:*) ;;
    (7:*)
      x=0
      if isgone; then break; fi
      x=unknown
    ;;
    (*) x=unknown ;;
  esac
  [ "$n" -lt ${Math.ceil(waitMs / stepMs)} ] || break
  n=$((n + 1))
  ${pathWord(tool.sleep)} ${stepMs / 1_000}
done
printf 'left=%s\n' "$x"
changed`;

/** Takes the file away that keeps a placement closed. */
export const openDoor = ({ port, placement }: ScriptArgs['open-door']): string => `y=
for f in ${pathWord(closedFile(port, placement))} ${pathWord(fileSeal(closedFile(port, placement)))}; do
  [ -e "$f" ] || continue
  must rm ${pathWord(tool.rm)} -f "$f"
  y=1
done
[ -n "$y" ] || unchanged
changed`;
