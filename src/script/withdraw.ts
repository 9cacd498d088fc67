import { pathWord, place, tool } from './node-paths.ts';

/** The last word of the line that enroll adds to the keys of an account. */
export const keyMark = 'meshwright';

/**
 * The last body of all: takes our folder away, with the lease in it, then the line of sudoers, then the line that enroll
 * added to the keys of the account, and keeps everything else in them. What it was cut off before, a later run takes
 * away, as long as the account may still log in and become root: hence this order. Nothing is written behind it.
 *
 * @see sudo(8), ENVIRONMENT: HOME is kept by the sudoers of macOS
 */
export const withdrawBody = (): string => `k="$HOME/.ssh/authorized_keys"
rest=''
isours=''
if [ -r "$k" ]; then
  while IFS= read -r x || [ -n "$x" ]; do
    case $x in (*" ${keyMark}") isours=1 ;; (*) rest=$rest$x$N ;; esac
  done <"$k"
fi
cd "$R/" || exit 1
must rm ${pathWord(tool.rm)} -rf "$b"
must rm ${pathWord(tool.rm)} -f ${pathWord(place.sudoersDropIn)}
if [ -n "$isours" ]; then
  if [ -n "$rest" ]; then
    must cp ${pathWord(tool.cp)} -p "$k" "$k.$$"
    printf '%s' "$rest" >"$k.$$" || failed write 'the keys of the account could not be written'
    must mv ${pathWord(tool.mv)} -f "$k.$$" "$k"
  else
    must rm ${pathWord(tool.rm)} -f "$k"
    ${pathWord(tool.rmdir)} "$HOME/.ssh" 2>/dev/null
  fi
fi
changed`;
