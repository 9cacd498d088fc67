# `move_heartbeat` increments the heartbeat. The caller has entered the lease's folder and checked that it owns the
# lease.
#
# Prints: nothing
move_heartbeat() {
  n=0
  IFS= read -r n <heartbeat
  case $n in ('' | *[!0-9]*) n=0 ;; esac
  write heartbeat "$((n + 1))$N"
}
