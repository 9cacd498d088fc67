import { ownNumbers as numbers } from '../../model/account.ts';
import type { ScriptArgs } from '../../model/node-script.ts';
import { directoryGroups, directoryUsers, pathWord, place, tool } from '../../node/paths/node-paths.ts';
import { accountBegun, accountChecked, accountFile, accountFolder } from '../../node/paths/own-paths.ts';
import { accountKeys } from '../../node/probes/accounts.ts';
import { quote } from '../../node/quote.ts';

const [home, shell] = [place.emptyHome.path, tool.false.path];

/** How often `end_all` looks whether processes still run, five times per second. */
const endPolls = 50;

const record = (folder: string, name: string): string => quote(`${folder}/${name}`);

/** `directory COMMAND…` leaves in `o` what dscl says; a refusal that a person can lift has a slug of its own. */
const directoryFunction = `directory() {
  o=$(${pathWord(tool.dscl)} . "$@" 2>&1) && return
  case $o in
    (*eDSRecordNotFound*) o='' ;;
    (*eDSPermissionError*) failed no-full-disk-access "macOS refused dscl $1 $2" ;;
    (*) failed dscl "$o" ;;
  esac
}`;

/** `has LINE` looks in the record `r`; `add RECORD KEY VALUE` gives it a key that it lacks, and no other value of one. */
const recordFunctions = `has() {
  case "$N$r$N" in (*"$N$1$N"*) return 0 ;; esac
  return 1
}
add() {
  has "$2: $3" && return
  case "$N$r" in (*"$N$2:"*) failed other-account "$1 has another $2" ;; esac
  directory -create "$1" "$2" "$3"
}`;

/** `lacking` leaves in `y` a value of ours, with the number `i`, that the record `r` does not have. */
const lackingFunction = `lacking() {
  y=''
  for x in "UniqueID: $i" "PrimaryGroupID: $i" 'NFSHomeDirectory: ${home}' 'UserShell: ${shell}' 'Password: *'; do
    has "$x" || y=$x
  done
}`;

/** The first number that is neither an account's nor a group's; once chosen it is kept for later attempts. */
const chooseNumber = `directory -list ${quote(directoryUsers)} UniqueID
l=$o
directory -list ${quote(directoryGroups)} PrimaryGroupID
l=$N$(printf '%s\\n%s\\n' "$l" "$o" | ${pathWord(tool.awk)} '{ print $NF }')$N
i=${numbers.first}
while [ "$i" -le ${numbers.last} ]; do
  case $l in (*"$N$i$N"*) i=$((i + 1)) ;; (*) break ;; esac
done
[ "$i" -le ${numbers.last} ] || failed no-number 'every number from ${numbers.first} to ${numbers.last} is taken'
write "$g" "$i$N"`;

/**
 * Makes an account of ours and a group that is its alone: without password and shell, with a home that cannot be
 * written. A record that differs from what is given here belongs to a person or a program, and is not changed. The next
 * run finishes the work of a run that was killed, and takes a record again that macOS kept at `uninstall`.
 *
 * @see dscl(1): a record is made with `-create`, key by key; seen over ssh as root on headless Macs with Apple silicon
 */
export function makeAccount({ name }: ScriptArgs['make-account']): string {
  const [user, group] = [record(directoryUsers, name), record(directoryGroups, name)];
  return `${directoryFunction}
${recordFunctions}
${lackingFunction}
f=${pathWord(accountFile(name))} g=${pathWord(accountBegun(name))}
look() {
  directory -read ${user} ${accountKeys}
  r=$o
}
look
if [ -e "$f" ]; then
  u='' q=''
  IFS=' ' read -r u q <"$f"
  if [ -n "$r" ] && has "UniqueID: \${u#uid=}" && has "GeneratedUID: \${q#id=}"; then
    must rm ${pathWord(tool.rm)} -f "$g"
    unchanged
  fi
  [ -z "$r" ] || failed other-account 'the account ${name} is not the one that was made'
  # macOS has taken it away: it gets its number back, where its group still has that.
  write "$g" "\${u#uid=}$N"
  must rm ${pathWord(tool.rm)} -f "$f"
fi
must mkdir ${pathWord(tool.mkdir)} -p ${pathWord(place.accounts)}
directory -read ${group} PrimaryGroupID
if [ -e "$g" ]; then
  IFS= read -r i <"$g"
elif [ -z "$r$o" ]; then
  ${chooseNumber}
else
  # What macOS kept of an earlier installation has every value that is given below. The rest belongs to others.
  i=\${r##*UniqueID: }
  i=\${i%%"$N"*}
  case $i in ('' | *[!0-9]*) i=0 ;; esac
  lacking
  case $N$o$N in (*"\${N}PrimaryGroupID: $i$N"*) ;; (*) y=group ;; esac
  if [ -n "$y" ] || [ "$i" -lt ${numbers.first} ] || [ "$i" -gt ${numbers.last} ]; then
    failed other-account 'there is an account or a group ${name} that meshwright did not make'
  fi
  write "$g" "$i$N"
fi
case $i in ('' | *[!0-9]*) failed other-account "$g has no number" ;; esac
directory -list ${quote(directoryUsers)} UniqueID
x=$(printf '%s\\n' "$o" | ${pathWord(tool.awk)} -v i="$i" '$NF == i && $1 != "${name}" { print $1 }')
[ -z "$x" ] || failed other-account "its number $i belongs to $x now"
directory -create ${group}
directory -read ${group} PrimaryGroupID
r=$o
add ${group} PrimaryGroupID "$i"
directory -create ${user}
look
add ${user} UniqueID "$i"
add ${user} PrimaryGroupID "$i"
add ${user} NFSHomeDirectory ${quote(home)}
add ${user} UserShell ${quote(shell)}
add ${user} Password '*'
look
lacking
[ -z "$y" ] || failed dscl "dscl reported success, and the account has no $y"
q=\${r##*GeneratedUID: }
q=\${q%%"$N"*}
o=$(${pathWord(tool.id)} -u ${name} 2>&1)
[ "$o" = "$i" ] || failed id "macOS does not know the account: $o"
write "$f" "uid=$i id=$q$N"
must rm ${pathWord(tool.rm)} -f "$g"
changed`;
}

/**
 * `end_all UID NAME` ends every process of an account. Its services were taken away before, so what still runs was left
 * behind. After the account is deleted, macOS could give its number, and with it these processes, to another account.
 */
const endFunction = `end_all() {
  n=0
  while :; do
    o=$(${pathWord(tool.ps)} -ax -o uid= -o pid= 2>&1) || failed ps "$o"
    x=$(printf '%s\\n' "$o" | ${pathWord(tool.awk)} -v "u=$1" '$1 == u { print $2 }')
    [ -n "$x" ] || return 0
    [ "$n" -lt ${endPolls} ] || failed still-running "process \${x%%"$N"*} of the account $2 does not end; restart this Mac and run uninstall again"
    for x in $x; do kill -s KILL "$x" 2>/dev/null; done
    n=$((n + 1))
    ${pathWord(tool.sleep)} 0.2
  done
}`;

/**
 * Takes accounts of ours and their groups away, with their homes and whatever still runs as them; of a record that is not
 * the one that was made only our own files. Where macOS lets no ssh session delete a record, the account stays, without password, shell and files.
 *
 * @see dscl(1): to delete a record over ssh, sshd needs Full Disk Access; else -14120
 */
export function removeAccounts({ names }: ScriptArgs['remove-accounts']): string {
  const one = (name: string): string => `u='' q=''
f=${pathWord(accountFile(name))} g=${pathWord(accountBegun(name))}
[ ! -e "$g" ] || IFS= read -r u <"$g"
[ ! -e "$f" ] || IFS=' ' read -r u q <"$f"
set --
directory -read ${record(directoryGroups, name)} PrimaryGroupID
r=$o
! has "PrimaryGroupID: \${u#uid=}" || set -- ${record(directoryGroups, name)}
directory -read ${record(directoryUsers, name)} ${accountKeys}
r=$o
if has "UniqueID: \${u#uid=}" && { [ -z "$q" ] || has "GeneratedUID: \${q#id=}"; }; then
  end_all "\${u#uid=}" ${name}
  set -- ${record(directoryUsers, name)} "$@"
fi
for x in "$@"; do
  if o=$(${pathWord(tool.dscl)} . -delete "$x" 2>&1); then
    o=$(${pathWord(tool.dscl)} . -read "$x" PrimaryGroupID 2>&1) && failed dscl "dscl reported success, and $x is still there"
  fi
  case $o in (*eDSRecordNotFound* | *eDSPermissionError*) ;; (*) failed dscl "$o" ;; esac
done
must rm ${pathWord(tool.rm)} -rf ${pathWord(accountFolder(name))} ${pathWord(accountChecked(name))} "$f" "$g"`;
  return `${directoryFunction}
${recordFunctions}
${endFunction}
${names.map(one).join('\n')}\nchanged`;
}
