# `look` tests whether launchd has loaded the service `$L`. It sets `pid` to the process ID (empty if there is no
# process) and `o` to the output. `bootout` unloads the service and waits until it is gone. For launchctl's bootout,
# exit codes 3, 36 and 113 are not errors: the service is gone or stopping. For print, only exit 113 with "Could not
# find service" means that the service is not loaded.
#
# Needs label: the service's label
# Needs end_seconds: how many seconds to wait for the service to stop
# Prints: nothing; fails with launchctl
L=system/$label
look() {
  st='' pid=''
  if ! o=$("$R/bin/launchctl" print "$L" 2>&1); then
    case $o in (*'Could not find service'*) return 1 ;; esac
    failed launchctl "$o"
  fi
  # The first `state` and `pid` at the top level, one line each; each level is indented by a tab or four spaces.
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
    [ "$n" -lt $((end_seconds * 4)) ] || failed launchctl 'launchd did not unload the service in time'
    "$R/bin/sleep" 0.25
  done
}
