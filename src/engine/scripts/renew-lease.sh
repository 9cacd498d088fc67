# Renews the lease: increments its heartbeat, and writes the phase of the run where one is given.
#
# Uses lease-owner.sh
# Uses lease-heartbeat.sh
# Needs run: that holds it
# Needs token: under which
# Needs phase: its new phase; empty where it stays
# Needs lost: the exit when the lease is not this run's any more
# Prints: @renewed
cd "$b/lease" 2>/dev/null || exit "$lost"
owned . "$run" "$token" || exit "$lost"
move_beat
if [ -n "$phase" ]; then
  y=''
  while IFS= read -r x; do
    case $x in (phase=*) ;; (*) y=$y$x$N ;; esac
  done <owner
  write owner "${y}phase=$phase$N"
fi
printf '@renewed\n'
