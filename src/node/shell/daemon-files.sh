# `writable_daemon_file NAME UID GROUPS` prints the files and folders that this account can change and that control what
# launchd runs as root. It checks the property lists in `/Library/LaunchDaemons`, the programs of root daemons, the
# files named in their arguments, the targets of any links among these, and every folder above them. If a program is
# missing or is a folder, the folders above it are still checked, because their owners can install a different program.
# If the account can change none of these, the function prints nothing; if that cannot be determined, it fails and
# prints the reason to stderr. It checks owners, modes and access control lists, but neither the files that such a
# program itself reads or starts nor the files that others may add to a sticky folder.
#
# `root_words` reads property lists and prints all paths in the programs and arguments that launchd runs as root. To
# find the paths in arguments such as `sh -c 'x; /opt/y --file=/opt/z'`, it checks each program and argument as a whole,
# each of its quoted parts, and each of its words. The last awk program in this file tests whether an access control
# list, in the format of `ls -lde`, allows the account or any of its groups to change a file or a folder's contents. See
# launchd.plist(5): Program, ProgramArguments, UserName; find(1) of macOS: -acl; ls(1) of macOS: -e; chmod(1) of macOS
# for the rights in an access control list.
#
# Needs launch_daemons: the folder that contains the property lists
# Prints: nothing
root_words() { "$R/usr/bin/awk" '
function ends() { if (!other) printf "%s", words; words = key = ""; other = note = depth = 0 }
function paths(text, separators, n, i, word) {
  n = split(text, word, separators)
  for (i = 1; i <= n; i++) if (word[i] ~ /^\// && word[i] !~ /\n/) words = words word[i] "\n"
}
BEGIN { RS = "<" }
FILENAME != file { ends(); file = FILENAME }
END { ends() }
note || /^!--/ { note = !index($0, "-->"); next }
/^dict>/ { depth++ }
/^\/dict>/ { depth-- }
/^key>/ && depth == 1 { key = substr($0, 5) }
!/^string>/ || depth != 1 { next }
{
  text = substr($0, 8)
  gsub(/&lt;/, "<", text); gsub(/&gt;/, ">", text); gsub(/&quot;/, "\"", text); gsub(/&apos;/, "\047", text)
  gsub(/&amp;/, "\\&", text)
  if (key == "UserName" && text != "root") other = 1
  if (key != "Program" && key != "ProgramArguments") next
  paths(text, "\n")
  paths(text, "[\"\047`]")
  paths(text, "[ \t\n;&|()<>=:,\"\047`]+")
}
' "$@"; }
root_programs() {
  set --
  for plist in "$launch_daemons"/*.plist; do
    [ -f "$plist" ] || continue
    IFS= read -r start <"$plist"
    case $start in
      (bplist*) "$R/usr/bin/plutil" -convert xml1 -o - "$plist" 2>/dev/null | root_words || return ;;
      (*) set -- "$@" "$plist" ;;
    esac
  done
  [ "$#" -eq 0 ] || root_words "$@" || return
  printf 'end\n'
}
with_folders() {
  at=$1
  while [ -n "$at" ] && [ "$at" != "$R" ]; do
    case "$seen$feed" in (*"$feed$at$feed"*) return ;; esac
    seen=$seen$feed$at
    printf '%s\n' "$at"
    if [ -h "$at" ]; then
      set -- "$at"
      to=$("$R/usr/bin/readlink" "$at")
      case $to in (/*) with_folders "$to" ;; (*) with_folders "${at%/*}/$to" ;; esac
      at=$1
    fi
    at=${at%/*}
  done
}
daemon_files() {
  seen='' feed='
'
  for plist in "$launch_daemons" "$launch_daemons"/*.plist; do
    with_folders "$plist"
  done
  root_programs | while IFS= read -r program; do
    if [ "$program" = end ]; then
      printf 'end\n'
    elif [ -d "$R$program" ]; then
      with_folders "$R${program%/*}"
    else
      with_folders "$R$program"
    fi
  done
}
writable_daemon_file() {
  daemon_files | {
    writer=$1 number=$2 names=$3 last=''
    set --
    while IFS= read -r item; do
      case $item in (end) last=end ;; (*) [ ! -e "$item" ] || set -- "$@" "$item" ;; esac
    done
    [ -n "$last" ] || exit 1
    [ "$#" -gt 0 ] || exit 0
    listed=$("$R/usr/bin/find" "$@" -prune -acl -print) || exit 1
    gids=$("$R/usr/bin/id" -G "$writer") || exit 1
    set -- "$@" -prune '(' -type f -o -type d ')' '(' -user "$number" -o ! '(' -type d -perm -1000 ')' '(' -perm -002
    for gid in $gids; do
      set -- "$@" -o -perm -020 -group "$gid"
    done
    "$R/usr/bin/find" "$@" ')' ')' -print || exit 1
    [ -n "$listed" ] || exit 0
    printf '%s\n' "$listed" | while IFS= read -r item; do
      entries=$("$R/bin/ls" -lde "$item") || exit 1
      printf '%s\n' "$entries" | "$R/usr/bin/awk" -v user="$writer" -v groups="$names" '
BEGIN {
  is["user:" user] = is["group:everyone"] = 1
  n = split(groups, all, " ")
  for (i = 1; i <= n; i++) is["group:" all[i]] = 1
}
$1 ~ /^[0-9]+:$/ && ($2 in is) && / allow .*(write|append|add_|delete|chown)/ { found = 1 }
END { exit !found }
'
      case $? in (0) printf '%s\n' "$item" ;; (1) ;; (*) exit 1 ;; esac
    done
  }
}
