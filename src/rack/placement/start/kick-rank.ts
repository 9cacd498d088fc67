import type { ScriptArgs } from '../../../model/node-script.ts';
import { launchdFunctions } from '../../../node/launchd-service.ts';
import { refuseRoot } from '../../../node/owner-word.ts';
import { pathWord, tool } from '../../../node/paths/node-paths.ts';
import { rankLog, rdmaStartsFile, startFile } from '../../../node/paths/own-paths.ts';
import { rebootMarkFunctions, refuseMarked, wiredFunctions } from '../../../node/wired-memory.ts';

/** Looks, four in a second, at a service that was started and shows no process; launchd may put off a start by ten seconds. */
const looksAfterStart = 8;
const looksWhileScheduled = 60;

/** Counts what a start over RDMA takes in a file of the node, which no removal of a placement takes away. */
const countStart = (takes: number): string => `v=${pathWord(rdmaStartsFile)} m='' k=0
[ ! -e "$v" ] || while IFS= read -r x; do
  case $x in (boot=*) m=\${x#*=} ;; (starts=*) k=\${x#*=} ;; esac
done <"$v"
case $k in ('' | *[!0-9]*) k=0 ;; esac
[ "$m" = "$u" ] || k=0
write "$v" "boot=$u\${N}starts=$((k + ${takes}))$N"
`;

/** Leaves in `p` the boot session in which the start before this one failed, where that was an earlier one. */
const failedBefore = (placement: string): string => `m='' k='' p=''
[ ! -e ${pathWord(startFile(placement))} ] || while IFS= read -r x; do
  case $x in (boot=*) m=\${x#*=} ;; (outcome=*) k=\${x#*=} ;; (failedIn=*) p=\${x#*=} ;; esac
done <${pathWord(startFile(placement))}
case $k in (failed | exited) [ "$m" = "$u" ] || p=$m ;; (*) p='' ;; esac
`;

/**
 * Marks when a start is over at the latest, where its log begins, over what the last one talked against the file, what
 * it takes of each device, in which earlier boot session the one before it failed, and what the GPU may wire: what its
 * log says of that holds for this limit alone.
 */
const markStart = ({
  placement,
  transport,
  startMs,
  lastTalked,
  takes = 1,
}: ScriptArgs['kick-rank']): string => `${failedBefore(placement)}z=0
f=${pathWord(rankLog(placement))}
[ ! -e "$f" ] || z=$(${pathWord(tool.stat)} -f %z "$f")
q=$(${pathWord(tool.sysctl)} -n iogpu.wired_limit_mb 2>/dev/null) || q=''
[ -z "$p" ] || p="failedIn=$p$N"
i="boot=$u\${N}transport=${transport}\${N}until=$(($(${pathWord(tool.date)} +%s) + ${Math.ceil(startMs / 1_000)}))\${N}log=$z\${N}wired=$q\${N}${lastTalked === undefined ? '' : `lastTalked=${lastTalked}\${N}`}${transport === 'rdma' ? `takes=${takes}\${N}` : ''}$p"
write ${pathWord(startFile(placement))} "$i"
`;

/** The same mark with the process, which shows whether the start is still under way; 0 where there is none any more. */
const markProcess = (placement: string): string => `write ${pathWord(startFile(placement))} "\${i}pid=$pid$N"`;

/**
 * Starts a rank that was made ready, unless its account can become root; a running rank stays as it is. The start is
 * counted first, so that a start with an unknown end counts too. The process is noted with the time of its start, by which
 * a later stop knows it again.
 */
export function kickRank(args: ScriptArgs['kick-rank']): string {
  const { placement, generation, user = '', transport, takes = 1 } = args;
  const count = transport === 'rdma' ? countStart(takes) : '';
  return `${launchdFunctions(placement)}
${rebootMarkFunctions}
${wiredFunctions}
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
${refuseMarked}
${refuseRoot(user)}keep_wired
case $c in ('' | *[!0-9]*) c=0 ;; esac
[ "$s" = "$u" ] || c=0
write "$d/record" "\${r}startedIn=$u\${N}starts=$((c + 1))$N"
${count}${markStart(args)}must launchctl ${pathWord(tool.launchctl)} kickstart "$L"
n=0
while look && [ -z "$pid" ]; do
  n=$((n + 1))
  case $st in ('spawn scheduled' | spawning | xpcproxy) c=${looksWhileScheduled} ;; (*) c=${looksAfterStart} ;; esac
  [ "$n" -lt "$c" ] || { pid=0; ${markProcess(placement)}; failed ended-at-once 'it was started and has no process any more'; }
  ${pathWord(tool.sleep)} 0.25
done
[ -n "$pid" ] || failed not-loaded 'launchd has forgotten the service'
write "$d/process" "boot=$u\${N}pid=$pid\${N}start=$(${pathWord(tool.ps)} -o lstart= -p "$pid")$N"
${markProcess(placement)}
changed`;
}
