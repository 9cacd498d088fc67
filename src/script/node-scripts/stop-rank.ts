import type { ScriptArgs } from '../../model/node-script.ts';
import { pathWord, tool } from '../node-paths.ts';
import { launchdFunctions } from './launchd-service.ts';

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
 * launchd has forgotten it: by its number and the time of its start, or, when that process has ended, as a group, whose number
 * nobody gets as long as it has members.
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

/**
 * Stops a member: TERM, a time of grace, KILL of everything that is left, bootout. It ends well only when no process
 * of it is left, and says `ended=clean` or `ended=killed`; what not even KILL ends is held by the kernel, and only a
 * restart of the Mac helps. A member that is not there any more is stopped.
 */
export const stopRank = ({ placement, graceMs }: ScriptArgs['stop-rank']): string => `${launchdFunctions(placement)}
${processFunctions}
F='' h='' how=clean
if look; then
  h=1
  F=$pid
fi
[ -n "$F" ] || noted
family
[ -n "$F$h" ] || unchanged
if [ -n "$F" ]; then
  if [ -n "$h" ]; then
    ${pathWord(tool.launchctl)} kill SIGTERM "$L" >/dev/null 2>&1
  else
    for p in $F; do kill -s TERM "$p" 2>/dev/null; done
  fi
  wait_for ${Math.ceil(graceMs / stepMs)} || {
    how=killed
    [ -z "$h" ] || ${pathWord(tool.launchctl)} kill SIGKILL "$L" >/dev/null 2>&1
    for p in $F; do kill -s KILL "$p" 2>/dev/null; done
    wait_for ${looksAfterKill} || failed needs-reboot "not even KILL ends: $F"
  }
fi
[ -z "$h" ] || bootout
${pathWord(tool.rm)} -f "$d/process"
printf 'ended=%s\\n' "$how"
changed`;
