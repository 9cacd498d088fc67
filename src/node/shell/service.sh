# `look` says whether launchd knows the service `$L`, and leaves the number of its process in `pid`, empty where it has
# none, and the answer in `o`. `bootout` makes launchd forget it, and waits until it has. What an earlier one of the same name
# left is no error: 3, 36 and 113 say that it is gone or going. launchctl: exit 113 with "Could not find service" is the one
# answer that means not loaded.
#
# Needs label: of the service
# Needs end_seconds: how long the end of it may take
# Prints: nothing; fails with launchctl
L=system/$label
look() {
  st='' pid=''
  if ! o=$("$R/bin/launchctl" print "$L" 2>&1); then
    case $o in (*'Could not find service'*) return 1 ;; esac
    failed launchctl "$o"
  fi
  # The first `state` and `pid` at the first depth, one line each; a depth is a tab, or four blanks.
  x=$(printf '%s\n' "$o" | "$R/usr/bin/awk" '!s && sub(/^(\t|    )state = /, "") { s = $0 }
!p && sub(/^(\t|    )pid = /, "") { p = $0 }
END { print s; print p }')
  st=${x%%"$N"*}
  case $x in (*"$N"*) pid=${x#*"$N"} ;; esac
  [ -n "$st" ] || failed launchctl 'launchctl shows no state of the service'
}
bootout() {
  o=$("$R/bin/launchctl" bootout "$L" 2>&1)
  case $? in (0 | 3 | 36 | 113) ;; (*) failed launchctl "$o" ;; esac
  n=0
  while look; do
    n=$((n + 1))
    [ "$n" -lt $((end_seconds * 4)) ] || failed launchctl 'launchd does not let go of the service'
    "$R/bin/sleep" 0.25
  done
}
