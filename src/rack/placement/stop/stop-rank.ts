import type { ScriptArgs } from '../../../model/node-script.ts';
import { launchdFunctions } from '../../../node/launchd-service.ts';
import { pathWord, tool } from '../../../node/paths/node-paths.ts';
import { rdmaStartsFile, startFile } from '../../../node/paths/own-paths.ts';
import {
  judgeWiredFunctions,
  rebootMarkFunctions,
  sampleFunction,
  wiredFunctions,
} from '../../../node/wired-memory.ts';

/** Milliseconds between two looks at what is left. */
const stepMs = 250;

/** Looks after KILL: five seconds. What lives longer is held by the kernel. */
const looksAfterKill = 20;

/** The processes that are, or descend from, or share a group with one of `seeds`; zombies have ended. */
const familyOf = `BEGIN { n = split(seeds, s, " "); for (i = 1; i <= n; i++) f[s[i]] = 1 }
{ parent[$1] = $2; group[$1] = $3; dead[$1] = $4 ~ /^Z/ }
END {
  do {
    more = 0
    for (p in parent) if (!(p in f) && ((parent[p] in f) || (group[p] in f))) { f[p] = 1; more = 1 }
  } while (more)
  for (p in parent) if ((p in f) && !dead[p]) printf "%s ", p
}`;

/**
 * `family` leaves in `F` what is left of the processes in `F`. `noted` finds the process of the last start where
 * launchd has forgotten it: by its number and the time of its start, or, when that process has ended, as a group,
 * whose number nobody gets as long as it has members.
 */
const processFunctions = `family() {
  F=$(${pathWord(tool.ps)} -ax -o pid= -o ppid= -o pgid= -o stat= | ${pathWord(tool.awk)} -v "seeds=$F" '${familyOf}')
}
noted() {
  [ -e "$d/process" ] || return 0
  u='' q='' t=''
  while IFS= read -r x; do
    case $x in (boot=*) u=\${x#*=} ;; (pid=*) q=\${x#*=} ;; (start=*) t=\${x#*=} ;; esac
  done <"$d/process"
  case $q in ('' | *[!0-9]*) return 0 ;; esac
  [ "$u" = "$(${pathWord(tool.sysctl)} -n kern.bootsessionuuid)" ] || return 0
  x=$(${pathWord(tool.ps)} -o lstart= -p "$q")
  if [ -z "$x" ] || [ "$x" = "$t" ]; then F=$q; fi
}
wait_for() {
  n=0
  while family && [ -n "$F" ] && [ "$n" -lt "$1" ]; do
    n=$((n + 1))
    ${pathWord(tool.sleep)} ${stepMs / 1_000}
  done
  [ -z "$F" ]
}`;

/** INT, which a program may take as an orderly end, and a time for it; nothing where the stop begins with TERM. */
const interruptFirst = (interruptMs: number): string =>
  interruptMs === 0
    ? ''
    : `    tell INT
    wait_for ${Math.ceil(interruptMs / stepMs)} || `;

/**
 * Writes beside the mark of the last start what became of it, once. One that served and ended clean holds nothing of a
 * device any more, so its count is given back: after the mark, since a stop that is cut off in between may count a
 * start too many and never one too few.
 */
const noteOutcome = (placement: string): string => `note_outcome() {
  [ -e ${pathWord(startFile(placement))} ] || return 0
  i='' k=''
  while IFS= read -r x; do
    case $x in
      (boot=*) [ "\${x#*=}" = "$u" ] || return 0 ;;
      (outcome=*) return 0 ;;
      (takes=*) k=\${x#*=} ;;
    esac
    i=$i$x$N
  done <${pathWord(startFile(placement))}
  write ${pathWord(startFile(placement))} "\${i}outcome=$1$N"
  case $1:$how:$k in (served:clean:[1-9]) ;; (*) return 0 ;; esac
  q='' n=''
  [ ! -e ${pathWord(rdmaStartsFile)} ] || while IFS= read -r x; do
    case $x in (boot=*) q=\${x#*=} ;; (starts=*) n=\${x#*=} ;; esac
  done <${pathWord(rdmaStartsFile)}
  case $n in ('' | *[!0-9]*) return 0 ;; esac
  [ "$q" != "$u" ] || [ "$n" -lt "$k" ] || write ${pathWord(rdmaStartsFile)} "boot=$u\${N}starts=$((n - k))$N"
}`;

/** A start that failed is told apart by whether its program had ended by itself. */
const outcomeWord = { served: 'served', hung: 'hung', failed: '"$w"' } as const;

/** What not even KILL ends: launchd keeps the service, since a bootout would wait for the process. */
const heldByKernel = (isBeforeReboot: boolean): string =>
  isBeforeReboot
    ? `[ -z "$f" ] || printf 'sample=%s\\n' "\${f##*/}"
      printf 'processes=%s\\nended=needs-reboot\\n' "\${F% }"
      changed`
    : 'failed needs-reboot "not even KILL ends: $F"';

/**
 * Stops a rank: INT where `interruptMs` says so, TERM, a time of grace, a sample of its stack, KILL of everything that
 * is left, bootout, a look at the wired memory. It ends well only when no process of it is left, and says how:
 * `ended=clean`, or `ended=killed` with the name of the sample in `sample=`; `ended=needs-reboot` when more memory
 * stays wired than before any rank ran, which is marked on the node; `ended=unknown` when it ended by itself and
 * nobody can say so of its memory. What not even KILL ends is held by the kernel: only a restart of the Mac helps.
 * That is a failure, unless this very restart follows (`beforeReboot`): then it is `ended=needs-reboot` with the
 * numbers in `processes=`. A member that is not there any more is stopped. With `outcome` it notes beside the start
 * what became of it.
 */
export const stopRank = ({
  placement,
  graceMs,
  interruptMs = 0,
  beforeReboot,
  outcome,
}: ScriptArgs['stop-rank']): string => `${launchdFunctions(placement)}
${rebootMarkFunctions}
${wiredFunctions}
${judgeWiredFunctions}
${sampleFunction(placement)}
${processFunctions}
${outcome === undefined ? '' : noteOutcome(placement)}
tell() {
  if [ -n "$h" ]; then
    ${pathWord(tool.launchctl)} kill "SIG$1" "$L" >/dev/null 2>&1
  else
    for p in $F; do kill -s "$1" "$p" 2>/dev/null; done
  fi
}
F='' h='' how=clean f=''
if look; then
  h=1
  F=$pid
fi
[ -n "$F" ] || noted
family
[ -n "$F$h" ] || unchanged
session
v=$F w=failed
[ -n "$F" ] || w=exited
if [ -n "$F" ]; then
${interruptFirst(interruptMs)}    {
    tell TERM
    wait_for ${Math.ceil(graceMs / stepMs)}
  } || {
    how=killed
    sample_of "\${F%% *}"
    [ -z "$h" ] || tell KILL
    for p in $F; do kill -s KILL "$p" 2>/dev/null; done
    wait_for ${looksAfterKill} || {
      mark kernel "processes=$F$N"
      ${heldByKernel(beforeReboot === true)}
    }
  }
fi
[ -z "$h" ] || bootout
${pathWord(tool.rm)} -f "$d/process"
[ -z "$f" ] || printf 'sample=%s\\n' "\${f##*/}"
m=normal
[ -z "$v" ] || judge_wired
case $m:$how in
  (high:*)
    mark memory "wired=$W\${N}baseline=$B$N"
    printf 'wired=%s\\nbaseline=%s\\n' "$W" "$B"
    how=needs-reboot ;;
  (unknown*:clean) how=unknown ;;
esac
${outcome === undefined ? '' : `note_outcome ${outcomeWord[outcome]}`}
case $m in (unknown*) printf 'memory=%s\\n' "$m" ;; esac
printf 'ended=%s\\n' "$how"
changed`;
