# `net ARGUMENTS` runs networksetup and leaves what it said in `o`. Its exit says little (0 or 4 with an error), its
# words do. A session over SSH without Full Disk Access is refused with words of its own, seen on a Mac mini with
# macOS 26.6; whatever it is allowed to set ends the mark of a node that was refused once. `mustnet` fails where `net` does.
#
# Needs refused_mark: the file that marks a node on which macOS refused this once
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
  net "$@" || failed networksetup "$1: ${o:-it ended with $x}"
}
