import { pathWord, place, tool } from './paths/node-paths.ts';

/** The last word of the key line that enroll adds to an account. */
export const keyMark = 'meshwright';

/** Begins the last word of a line that lets other Macs get a model from this one. */
const exchangeMark = 'meshwright-exchange-';

/**
 * Removes meshwright's folder with the lease in it, then enroll's key and those of exchanges, and finally the sudo
 * rule. This is the last script on a node. It first prepares the account's other keys next to their file. If the keys cannot be written, the
 * account can still become root, so that a later run can remove the rest. The keys are written through a link, which
 * remains a link, by a single tool that a lost connection does not stop. Nothing is written afterwards.
 *
 * @see sudo(8), ENVIRONMENT: macOS's sudoers keep HOME
 */
export const withdrawBody = (): string => `k="$HOME/.ssh/authorized_keys"
rest=''
isours=''
if [ -r "$k" ]; then
  while IFS= read -r x || [ -n "$x" ]; do
    case $x in (*" ${keyMark}" | restrict,*" ${exchangeMark}"*) isours=1 ;; (*) rest=$rest$x$N ;; esac
  done <"$k"
fi
cd "$R/" || exit 1
isplain=''
[ -h "$k" ] || isplain=1
nokeys() {
  ${pathWord(tool.rm)} -f "$k.$$"
  failed write 'the keys of the account could not be written'
}
if [ -n "$isours" ] && [ -n "$rest" ]; then
  must cp ${pathWord(tool.cp)} -p "$k" "$k.$$"
  printf '%s' "$rest" >"$k.$$" || nokeys
  [ "$(${pathWord(tool.cat)} "$k.$$")" = "$(printf '%s' "$rest")" ] || nokeys
fi
must rm ${pathWord(tool.rm)} -rf "$b"
if [ -n "$isours" ]; then
  if [ -n "$rest" ] && [ -n "$isplain" ]; then
    must mv ${pathWord(tool.mv)} -f "$k.$$" "$k"
  elif [ -n "$rest" ]; then
    ${pathWord(tool.cat)} "$k.$$" >"$k" || nokeys
    ${pathWord(tool.rm)} -f "$k.$$"
  elif [ -n "$isplain" ]; then
    must rm ${pathWord(tool.rm)} -f "$k"
    ${pathWord(tool.rmdir)} "$HOME/.ssh" 2>/dev/null
  else
    true >"$k" || nokeys
  fi
fi
must rm ${pathWord(tool.rm)} -f ${pathWord(place.sudoersDropIn)}
changed`;
