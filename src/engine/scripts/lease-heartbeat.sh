# `move_heartbeat` increments the lease's heartbeat. The caller must be in the lease's folder and must have checked that
# its run has the lease.
#
# Prints: nothing
move_heartbeat() {
  n=0
  IFS= read -r n <heartbeat
  case $n in ('' | *[!0-9]*) n=0 ;; esac
  write heartbeat "$((n + 1))$N"
}
