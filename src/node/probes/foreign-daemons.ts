import { knownDaemons } from '../../model/facts/daemons.ts';
import { pathWord, place, tool } from '../paths/node-paths.ts';
import { recordProbe } from './probe.ts';

/**
 * Prints what launchd says of each label of a known daemon whose plist lies in its folder: a line `daemon LABEL EXIT` and the
 * tool's lines each behind `|`, then `override LABEL EXIT` and the lines of `print-disabled` about it, and `end` at the
 * end. Where no such plist is, launchd is not asked at all. Runs in the private folder of the observation, in which the
 * file `foreign` is its own.
 *
 * @see launchctl(1): print, print-disabled
 */
const script = `trap "kill -9 \\$! 2>/dev/null; wait; exit 142" ALRM HUP TERM
f=${pathWord(place.launchDaemons)}
if [ ! -d "$f" ] || [ ! -r "$f" ] || [ ! -x "$f" ]; then
  printf "unreadable\\n"
  exit 0
fi
for l in ${knownDaemons.map(({ label }) => label).join(' ')}; do
  [ -e "$f/$l.plist" ] || [ -h "$f/$l.plist" ] || continue
  ${pathWord(tool.launchctl)} print "system/$l" >foreign 2>&1 &
  wait "$!"
  printf "daemon %s %s\\n" "$l" "$?"
  while IFS= read -r x || [ -n "$x" ]; do
    printf "|%s\\n" "$x"
  done <foreign
  ${pathWord(tool.launchctl)} print-disabled system >foreign 2>&1 &
  wait "$!"
  printf "override %s %s\\n" "$l" "$?"
  while IFS= read -r x || [ -n "$x" ]; do
    case $x in (*"\\"$l\\""*) printf "|%s\\n" "$x" ;; esac
  done <foreign
done
printf "end\\n"`;

/** What launchd says of the network daemons of others. */
export const foreignDaemonList = recordProbe('foreign-daemons', script, 10_000);
