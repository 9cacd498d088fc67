import type { ScriptArgs } from '../../model/node-script.ts';
import { pathWord, tool } from '../node-paths.ts';
import { rankLog, rdmaStartsFile, startFile } from '../rank-paths.ts';
import { launchdFunctions } from './launchd-service.ts';

/** Looks, four in a second, at a service that was started and shows no process; launchd may put off a start by ten seconds. */
const looksAfterStart = 8;
const looksWhileScheduled = 60;

/**
 * Counts a start over RDMA in a file of the node, which no removal of a placement takes away, and marks when it is over
 * at the latest, and where the log of this start begins.
 */
const countStart = (placement: string, startMs: number): string => `v=${pathWord(rdmaStartsFile)} m='' k=0 z=0
[ ! -e "$v" ] || while IFS= read -r x; do
  case $x in (boot=*) m=\${x#*=} ;; (starts=*) k=\${x#*=} ;; esac
done <"$v"
case $k in ('' | *[!0-9]*) k=0 ;; esac
[ "$m" = "$u" ] || k=0
write "$v" "boot=$u\${N}starts=$((k + 1))$N"
f=${pathWord(rankLog(placement))}
[ ! -e "$f" ] || z=$(${pathWord(tool.stat)} -f %z "$f")
i="boot=$u\${N}until=$(($(${pathWord(tool.date)} +%s) + ${Math.ceil(startMs / 1_000)}))\${N}log=$z$N"
write ${pathWord(startFile(placement))} "$i"
`;

/** The same mark with the process, which shows whether the start is still under way; 0 where there is none any more. */
const markProcess = (placement: string): string => `write ${pathWord(startFile(placement))} "\${i}pid=$pid$N"`;

/**
 * Starts a member that was made ready; one that runs is left alone. The start is counted before it happens, so that one
 * which nobody saw the end of is counted too. The process is noted with the time of its start, by which a later stop
 * knows it again.
 */
export function kickRank({ placement, generation, transport, startMs }: ScriptArgs['kick-rank']): string {
  const isCounted = transport === 'rdma';
  const count = isCounted ? countStart(placement, startMs) : '';
  const mark = isCounted ? `${markProcess(placement)}\n` : '';
  const over = isCounted ? `pid=0; ${markProcess(placement)}; ` : '';
  return `${launchdFunctions(placement)}
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
${count}must launchctl ${pathWord(tool.launchctl)} kickstart "$L"
n=0
while look && [ -z "$pid" ]; do
  n=$((n + 1))
  case $st in ('spawn scheduled' | spawning | xpcproxy) c=${looksWhileScheduled} ;; (*) c=${looksAfterStart} ;; esac
  [ "$n" -lt "$c" ] || { ${over}failed ended-at-once 'it was started and has no process any more'; }
  ${pathWord(tool.sleep)} 0.25
done
[ -n "$pid" ] || failed not-loaded 'launchd has forgotten the service'
write "$d/process" "boot=$u\${N}pid=$pid\${N}start=$(${pathWord(tool.ps)} -o lstart= -p "$pid")$N"
${mark}changed`;
}
