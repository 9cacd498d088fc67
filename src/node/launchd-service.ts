import type { NodePath } from '../model/probe.ts';
import { pathWord, tool } from './paths/node-paths.ts';
import { placementFolder, rankServiceLabel } from './paths/own-paths.ts';

/** The first `state` and `pid` at the first depth of `launchctl print`, one line each; a depth is a tab, or four blanks. */
const stateAndPid = `!s && sub(/^(\\t|    )state = /, "") { s = $0 }
!p && sub(/^(\\t|    )pid = /, "") { p = $0 }
END { print s; print p }`;

/**
 * `look` says whether launchd knows the service `$L`, and leaves the number of its process in `pid`, empty where it has
 * none. `bootout` makes launchd forget it, and waits until it has. What an earlier one of the same name left is no error: 3, 36
 * and 113 say that it is gone or going.
 *
 * @see knowledge of launchctl: exit 113 with "Could not find service" is the one answer that means not loaded
 */
const lookAndBootout = (seconds: number): string => `look() {
  st='' pid=''
  if ! o=$(${pathWord(tool.launchctl)} print "$L" 2>&1); then
    case $o in (*'Could not find service'*) return 1 ;; esac
    failed launchctl "$o"
  fi
  x=$(printf '%s\\n' "$o" | ${pathWord(tool.awk)} '${stateAndPid}')
  st=\${x%%"$N"*}
  case $x in (*"$N"*) pid=\${x#*"$N"} ;; esac
  [ -n "$st" ] || failed launchctl 'launchctl shows no state of the service'
}
bootout() {
  o=$(${pathWord(tool.launchctl)} bootout "$L" 2>&1)
  case $? in (0 | 3 | 36 | 113) ;; (*) failed launchctl "$o" ;; esac
  n=0
  while look; do
    n=$((n + 1))
    [ "$n" -lt ${seconds * 4} ] || failed launchctl 'launchd does not let go of the service'
    ${pathWord(tool.sleep)} 0.25
  done
}`;

/** How long launchd is waited for that ends a service of a few moments. */
const usualSeconds = 10;

/** The same for a doorman, which lets requests inside finish: `ExitTimeOut` of its property list, and some more. */
export const doormanEndSeconds = 35;

/** These functions for a service of this label. @param seconds how long `bootout` waits for the end of it */
export const serviceFunctions = (label: string, seconds = usualSeconds): string => `L=system/${label}
${lookAndBootout(seconds)}`;

/** Makes launchd load the service of these functions from `$p`; it may refuse for a moment after a `bootout`. */
export const bootstrapped = `n=0
until e=$(${pathWord(tool.launchctl)} bootstrap system "$p" 2>&1) || look; do
  n=$((n + 1))
  [ "$n" -lt 3 ] || failed launchctl "$e"
  ${pathWord(tool.sleep)} 2
done`;

/** These functions for the service of a rank, and the folder of its record in `d`. */
export const launchdFunctions = (placement: string): string => `${serviceFunctions(rankServiceLabel(placement))}
d=${pathWord(placementFolder(placement))}`;

/** Makes launchd forget the service of these functions and takes its traces away; `y` says whether there was anything. */
export const forgotten = (traces: readonly NodePath[]): string => `y=
if look; then
  bootout
  y=1
fi
for f in ${traces.map(pathWord).join(' ')}; do
  [ -e "$f" ] || continue
  must rm ${pathWord(tool.rm)} -rf "$f"
  y=1
done`;
