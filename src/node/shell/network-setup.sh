# `net ARGUMENTS` runs networksetup and sets `o` to its output. The tool's exit code is not reliable (0 or 4 after an
# error), but its messages are. Without Full Disk Access, an SSH session gets a specific message, seen on a Mac mini
# with macOS 26.6. A later success removes the file `$refused_mark`. `mustnet` fails if `net` fails.
#
# Needs refused_mark: the file that marks a node where macOS refused this once
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
