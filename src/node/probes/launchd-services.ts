import { pathWord, place, tool } from '../paths/node-paths.ts';
import { doormanLabel, doormanStatusStart, doormanStatusUrl, rankServiceLabel } from '../paths/own-paths.ts';
import { recordProbe } from './probe.ts';

/** More than a doorman says of a hundred placements. */
const mostStatusBytes = 65_536;

/** What all doormen of a node together may say of their counts; a placement takes some 400 bytes. */
const allStatusBytes = 98_304;

/** The names in the answer of a doorman, each behind `|`; none in any other answer. */
const namesBehind = `index($0, "${doormanStatusStart.replaceAll('"', '\\"')}") == 1 {
  while (match($0, /"placement":"[A-Za-z0-9._-]+"/)) {
    print "|" substr($0, RSTART + 13, RLENGTH - 14)
    $0 = substr($0, RSTART + RLENGTH)
  }
}`;

/**
 * Prints what launchd says of each of our plists, and of each rank that has a record and no plist any more, since
 * launchd keeps what it has loaded: a line `service LABEL EXIT`, then the tool's lines each behind `|`, and `end` at
 * the end. A doorman that is loaded is asked at its port who is behind it: `answer LABEL EXIT` with the exit of curl, then
 * the names of its placements, and `status LABEL` with what it says of itself in base64, each line behind `|`: none where
 * it said too much, or where somebody else answered. Names of files on the node are only ever expanded inside quotes. ALRM of the watchdog ends
 * the tool that hangs, too. Runs in the private folder of the observation, whose `print` file it uses.
 */
const script = `trap "kill -9 \\$! 2>/dev/null; wait; exit 142" ALRM HUP TERM
f=${pathWord(place.launchDaemons)}
if [ ! -d "$f" ] || [ ! -r "$f" ] || [ ! -x "$f" ]; then
  printf "unreadable\\n"
  exit 0
fi
B=${allStatusBytes}
v() {
  case $l in (*[!A-Za-z0-9._-]*)
    printf "odd\\n"
    return 0
  ;; esac
  ${pathWord(tool.launchctl)} print "system/$l" >print 2>&1 &
  wait "$!"
  y=$?
  printf "service %s %s\\n" "$l" "$y"
  while IFS= read -r x || [ -n "$x" ]; do
    printf "|%s\\n" "$x"
  done <print
  [ "$y" = 0 ] || return 0
  case $l in (${doormanLabel('*')}) ;; (*) return 0 ;; esac
  q=\${l##*.}
  case $q in ('' | *[!0-9]*) return 0 ;; esac
  ${pathWord(tool.curl)} -q -s --noproxy "*" -m 2 "${doormanStatusUrl('$q')}" >print 2>/dev/null &
  wait "$!"
  printf "answer %s %s\\n" "$l" "$?"
  ${pathWord(tool.head)} -c ${mostStatusBytes} print | ${pathWord(tool.awk)} '${namesBehind}'
  printf "status %s\n" "$l"
  IFS= read -r x <print
  case $x in ('${doormanStatusStart}'*) ;; (*) return 0 ;; esac
  z=$(${pathWord(tool.wc)} -c <print)
  z=$((z))
  [ "$z" -le "$B" ] || return 0
  B=$((B - z))
  ${pathWord(tool.base64)} <print | ${pathWord(tool.awk)} '{ print "|" $0 }'
}
for p in "$f/"dev.meshwright.*.plist; do
  [ -e "$p" ] || [ -h "$p" ] || continue
  l=\${p##*/}
  l=\${l%.plist}
  v
done
b=${pathWord(place.ours)}
for p in "$b/placements/"*; do
  l=${rankServiceLabel('')}\${p##*/}
  if [ ! -e "$p/record" ] || [ -e "$f/$l.plist" ] || [ -h "$f/$l.plist" ]; then continue; fi
  v
done
printf "end\\n"`;

/** What launchd says of each of our plists. */
export const launchdServices = recordProbe('launchd-services', script, 10_000);
