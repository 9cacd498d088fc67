import { pathWord, place, tool } from '../node-paths.ts';
import { rankServiceLabel } from '../rank-paths.ts';

/**
 * Prints what launchd says of each of our plists, and of each rank that has a record and no plist any more, since
 * launchd keeps what it has loaded: a line `service LABEL EXIT`, then the tool's lines each behind `|`, and `end` at
 * the end. Names of files on the node are only ever expanded inside quotes. ALRM of the watchdog ends the `launchctl`
 * that hangs, too. Runs in the private folder of the observation, whose `print` file it uses.
 */
export const launchdServicesScript = `trap "kill -9 \\$! 2>/dev/null; wait; exit 142" ALRM HUP TERM
f=${pathWord(place.launchDaemons)}
if [ ! -d "$f" ] || [ ! -r "$f" ] || [ ! -x "$f" ]; then
  printf "unreadable\\n"
  exit 0
fi
v() {
  case $l in (*[!A-Za-z0-9._-]*)
    printf "odd\\n"
    return 0
  ;; esac
  ${pathWord(tool.launchctl)} print "system/$l" >print 2>&1 &
  wait "$!"
  printf "service %s %s\\n" "$l" "$?"
  while IFS= read -r x || [ -n "$x" ]; do
    printf "|%s\\n" "$x"
  done <print
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
