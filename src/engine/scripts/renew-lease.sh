# Renews the lease: increments its heartbeat and records the run's phase if the phase has changed.
#
# Uses lease-owner.sh
# Uses lease-heartbeat.sh
# Needs run: the run that has the lease
# Needs token: the lease's token
# Needs phase: the run's new phase; empty if the phase is unchanged
# Needs lost: the exit code if this run no longer has the lease
# Prints: @renewed
cd "$b/lease" 2>/dev/null || exit "$lost"
owned . "$run" "$token" || exit "$lost"
move_heartbeat
if [ -n "$phase" ]; then
  y=''
  while IFS= read -r x; do
    case $x in (phase=*) ;; (*) y=$y$x$N ;; esac
  done <owner
  write owner "${y}phase=$phase$N"
fi
printf '@renewed\n'
