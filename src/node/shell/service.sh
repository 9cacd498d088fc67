# `look` tests whether launchd has loaded the `$L` service. It sets `pid` to the service's process ID (empty if the
# service has no process) and `o` to launchctl's output. `bootout` unloads the service and waits until launchd has
# unloaded it. Exit codes 3, 36 and 113 of `launchctl bootout` are not errors: the service is gone or is stopping. For
# `launchctl print`, only exit code 113 with "Could not find service" means that the service is not loaded.
#
# Needs label: the service's label
# Needs end_seconds: the maximum number of seconds to wait until the service has stopped
# Prints: nothing; fails with launchctl
L=system/$label
look() {
  st='' pid=''
  if ! o=$("$R/bin/launchctl" print "$L" 2>&1); then
    case $o in (*'Could not find service'*) return 1 ;; esac
    failed launchctl "$o"
  fi
  # Finds the first top-level `state` and `pid`, one per line; each level is indented by a tab or four spaces.
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
