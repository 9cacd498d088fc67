# `move_beat` increments the heartbeat. The caller is in the lease's folder and has checked that it owns the lease.
#
# Prints: nothing
move_beat() {
  n=0
  IFS= read -r n <beat
  case $n in ('' | *[!0-9]*) n=0 ;; esac
  write beat "$((n + 1))$N"
}
