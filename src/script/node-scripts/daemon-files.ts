import { pathWord, place, tool } from '../node-paths.ts';
import { quote } from '../quote.ts';

/**
 * Reads property lists, each followed by `<daemon-end>`, and prints the paths of what launchd runs as root: a program and
 * its arguments, whole and, for `sh -c 'x; /opt/y --file=/opt/z'`, word by word.
 */
const rootPrograms = `
function ends() { if (!other) printf "%s", words; words = key = ""; other = note = 0 }
BEGIN { RS = "<" }
/^daemon-end>/ { ends(); next }
note || /^!--/ { note = !index($0, "-->"); next }
/^key>/ { key = substr($0, 5) }
!/^string>/ { next }
{
  text = substr($0, 8)
  gsub(/&lt;/, "<", text); gsub(/&gt;/, ">", text); gsub(/&quot;/, "\\"", text); gsub(/&apos;/, "\\047", text)
  gsub(/&amp;/, "\\\\&", text)
  if (key == "UserName" && text != "root") other = 1
  if (key != "Program" && key != "ProgramArguments") next
  if (text ~ /^\\// && text !~ /\\n/) words = words text "\\n"
  n = split(text, word, "[ \\t\\n;&|()<>=:,\\"\\047]+")
  for (i = 1; i <= n; i++) if (word[i] ~ /^\\// && word[i] != text) words = words word[i] "\\n"
}
`;

/**
 * `writable_daemon_file NAME` prints files and folders with which this account can change what launchd runs as root:
 * a property list of `/Library/LaunchDaemons`, the program of a daemon that runs as root, a file among its arguments, what
 * links there lead to, and each folder above. Prints nothing where there is none; fails where that stays unknown. Modes and
 * groups say it, and where there is an access list, `test` as that account. What such a program reads or starts by itself
 * is not looked at, and neither is what a sticky folder lets others add.
 *
 * @see launchd.plist(5): Program, ProgramArguments, UserName; find(1) of macOS: -acl
 */
export const daemonFileFunctions = `root_programs() {
  for w in ${pathWord(place.launchDaemons)}/*.plist; do
    [ -f "$w" ] || continue
    IFS= read -r x <"$w"
    case $x in
      (bplist*) ${pathWord(tool.plutil)} -convert xml1 -o - "$w" ;;
      (*) ${pathWord(tool.cat)} "$w" ;;
    esac
    printf '<daemon-end>'
  done 2>/dev/null | ${pathWord(tool.awk)} ${quote(rootPrograms)} && printf 'end\\n'
}
with_folders() {
  w=$1
  while [ -n "$w" ] && [ "$w" != "$R" ]; do
    case "$l$n" in (*"$n$w$n"*) return ;; esac
    l=$l$n$w
    printf '%s\\n' "$w"
    if [ -h "$w" ]; then
      set -- "$w"
      x=$(${pathWord(tool.readlink)} "$w")
      case $x in (/*) with_folders "$x" ;; (*) with_folders "\${w%/*}/$x" ;; esac
      w=$1
    fi
    w=\${w%/*}
  done
}
daemon_files() {
  l= n='
'
  for p in ${pathWord(place.launchDaemons)} ${pathWord(place.launchDaemons)}/*.plist; do
    with_folders "$p"
  done
  root_programs | while IFS= read -r p; do
    if [ "$p" = end ]; then
      printf 'end\\n'
    elif [ -f "$R$p" ]; then
      with_folders "$R$p"
    fi
  done
}
writable_daemon_file() {
  daemon_files | {
    name=$1 x=
    set --
    while IFS= read -r w; do
      case $w in (end) x=end ;; (*) [ ! -e "$w" ] || set -- "$@" "$w" ;; esac
    done
    [ -n "$x" ] || exit 1
    [ "$#" -gt 0 ] || exit 0
    a=$(${pathWord(tool.find)} "$@" -prune -acl -print) || exit 1
    x=$(${pathWord(tool.id)} -u "$name") || exit 1
    g=$(${pathWord(tool.id)} -G "$name") || exit 1
    set -- "$@" -prune '(' -type f -o -type d ')' '(' -user "$x" -o ! '(' -type d -perm -1000 ')' '(' -perm -002
    for x in $g; do
      set -- "$@" -o -perm -020 -group "$x"
    done
    ${pathWord(tool.find)} "$@" ')' ')' -print || exit 1
    [ -z "$a" ] || printf '%s\\n' "$a" | while IFS= read -r w; do
      ${pathWord(tool.sudo)} -n -H -u "$name" ${pathWord(tool.test)} -w "$w" </dev/null
      case $? in (0) printf '%s\\n' "$w" ;; (1) ;; (*) exit 1 ;; esac
    done
  }
}
`;
