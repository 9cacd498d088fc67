import { ownAccounts } from '../../model/account.ts';
import { pathWord, place, tool } from '../paths/node-paths.ts';
import { recordProbe } from './probe.ts';

/**
 * Accounts of people, which have numbers from 501 on, and those of ours that are there: for each `account NAME`, its
 * record, `groups` with the names of its groups, and of ours what was written when it was made. Then for each account that
 * ran tests `checked NAME`, the build of macOS, its number and the names of the tests; one that failed begins with `!`. Behind
 * the last one `end`. The file `users` of the private folder is its own. Its tools run in the background: a shell hears no
 * signal before one in front ends.
 *
 * @see dscl(1): -list and -read of the local node need no root; a key that a record lacks is said on stderr, and the exit is 0
 * @see id(1): -G -n, which asks the directory for the groups of an account
 */
const script = `trap "kill -9 \\$!; wait; exit 142" ALRM HUP TERM
r() { "$@" & wait $!; }
r ${pathWord(tool.dscl)} . -list /Users UniqueID >users || exit
while read -r n u; do
case $n,$u in (${ownAccounts.map((name) => `${name},*`).join('|')}) ;; (_*|*,*[!0-9]*) continue ;; (*) [ "$u" -gt 500 ] || continue ;; esac
printf "account %s\\n" "$n"
r ${pathWord(tool.dscl)} . -read "/Users/$n" GeneratedUID NFSHomeDirectory Password PrimaryGroupID UniqueID UserShell || exit
printf "groups "
r ${pathWord(tool.id)} -Gn "$n" || printf "\\n"
done <users
for n in ${ownAccounts.join(' ')}; do
f=${pathWord(place.accounts)}/$n
[ ! -e "$f.begun" ] || printf "begun %s\\n" "$n"
[ ! -e "$f" ] || { read -r x; printf "made %s %s\\n" "$n" "$x"; } <"$f"
done
for f in ${pathWord(place.accounts)}/*.checked; do
[ -e "$f" ] || continue
n=\${f##*/}
printf "checked %s" "\${n%.checked}"
while read -r x; do printf " %s" "$x"; done <"$f"
printf "\\n"
done
printf "end\\n"`;

/** Accounts of people and of ours, as the local directory has them. */
export const accountRecords = recordProbe('accounts', script, 10_000);
