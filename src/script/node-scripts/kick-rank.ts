import type { ScriptArgs } from '../../model/node-script.ts';
import { pathWord, tool } from '../node-paths.ts';
import { launchdFunctions } from './launchd-service.ts';

/** Looks, four in a second, at a service that was started and shows no process; launchd may put off a start by ten seconds. */
const looksAfterStart = 8;
const looksWhileScheduled = 60;

/**
 * Starts a member that was made ready; one that runs is left alone. The start is counted before it happens, so that one
 * which nobody saw the end of is counted too. The process is noted with the time of its start, by which a later stop
 * knows it again.
 */
export const kickRank = ({ placement, generation }: ScriptArgs['kick-rank']): string => `${launchdFunctions(placement)}
[ -e "$d/record" ] || failed no-record 'the member was not made ready'
g='' s='' c=0 r=''
while IFS= read -r x; do
  case $x in
    (generation=*) g=\${x#*=} ;;
    (startedIn=*) s=\${x#*=} && continue ;;
    (starts=*) c=\${x#*=} && continue ;;
  esac
  r=$r$x$N
done <"$d/record"
[ "$g" = ${generation} ] || failed other-generation "the record is of generation $g"
look || failed not-loaded 'launchd does not know the service'
[ -z "$pid" ] || unchanged
u=$(${pathWord(tool.sysctl)} -n kern.bootsessionuuid)
[ -n "$u" ] || failed sysctl 'the boot session is not known'
case $c in ('' | *[!0-9]*) c=0 ;; esac
[ "$s" = "$u" ] || c=0
write "$d/record" "\${r}startedIn=$u\${N}starts=$((c + 1))$N"
must launchctl ${pathWord(tool.launchctl)} kickstart "$L"
n=0
while look && [ -z "$pid" ]; do
  n=$((n + 1))
  case $st in ('spawn scheduled' | spawning | xpcproxy) c=${looksWhileScheduled} ;; (*) c=${looksAfterStart} ;; esac
  [ "$n" -lt "$c" ] || failed ended-at-once 'it was started and has no process any more'
  ${pathWord(tool.sleep)} 0.25
done
[ -n "$pid" ] || failed not-loaded 'launchd has forgotten the service'
write "$d/process" "boot=$u\${N}pid=$pid\${N}start=$(${pathWord(tool.ps)} -o lstart= -p "$pid")$N"
changed`;
