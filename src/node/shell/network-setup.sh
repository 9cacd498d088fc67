# `net ARGUMENTS` runs networksetup and sets `o` to its output. The exit code of networksetup is unreliable (0 or 4
# after an error), so `net` recognizes errors by their messages. In an SSH session without Full Disk Access,
# networksetup prints a specific message, as seen on a Mac mini with macOS 26.6. Once networksetup has changed a setting
# again, `net` removes the `$refused_mark` file. If `net` fails, `mustnet` ends the script.
#
# Needs refused_mark: the file that marks a node on which macOS refused to change a network setting
# Prints: nothing; fails with no-full-disk-access, networksetup
net() {
  o=$("$R/usr/sbin/networksetup" "$@" 2>&1)
  x=$?
  case $o in
    (*'Unable to access the System Configuration database'*) failed no-full-disk-access "$o" ;;
    (*'** Error:'*) return 1 ;;
  esac
  [ "$x" -eq 0 ] || return 1
  case $1 in (-set* | -create* | -order*) [ ! -e "$refused_mark" ] || "$R/bin/rm" -f "$refused_mark" ;; esac
}
mustnet() {
  net "$@" || failed networksetup "$1: ${o:-it exited with $x}"
}
