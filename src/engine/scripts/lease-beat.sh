# `move_beat` moves the beat of the lease on, in a script that stands in its folder and has seen that it holds it.
#
# Prints: nothing
move_beat() {
  n=0
  IFS= read -r n <beat
  case $n in ('' | *[!0-9]*) n=0 ;; esac
  write beat "$((n + 1))$N"
}
