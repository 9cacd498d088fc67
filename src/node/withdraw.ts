import { pathWord, place, tool } from './paths/node-paths.ts';

/** The last word of the line that enroll adds to the keys of an account. */
export const keyMark = 'meshwright';

/**
 * Takes our folder away with the lease in it, then the key that enroll added, and the rule of sudo at last. It is the
 * last body of all, and makes the other keys of the account ready beside theirs first. Where the keys cannot be
 * written, the account may still become root, so that a later run takes away what is left. The keys are written
 * through a link, which stays one, and by one tool that the end of the connection does not stop. Nothing is written
 * behind it.
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
