# Settles a network change whose run is gone. No run confirmed that the node is reachable with the change, so the change
# is rolled back now, before its timeout expires. Waits for a script that is still changing the network, or for a
# process that is already rolling the change back; checks four times per second. Repeats an interrupted rollback. The
# caller defines `putback`, which restores the saved settings.
#
# Uses arm.sh
# Needs run: the run that made the change
# Prints: @changed or @unchanged; fails with still-changing
ismeant() {
  about "$1" && [ "$ar" = "$run" ]
}
verdict=unchanged n=0 dead=0
while ismeant "$rb/pending" || ismeant "$rb/rolling"; do
  verdict=changed
  if ismeant "$rb/pending" && ! ischanging && claim "$rb/pending" "$rb/rolling"; then
    putback
    disarm
  elif ismeant "$rb/rolling"; then
    dead=$((dead + 1))
    ! isalive "$ap" || dead=0
    # A process that has just claimed the transaction might not have written its process ID yet.
    if [ "$dead" -gt 4 ]; then
      putback
      disarm
    fi
  fi
  n=$((n + 1))
  [ "$n" -lt 240 ] || failed still-changing "process $ap is still working on it"
  if [ -d "$rb/pending" ] || [ -d "$rb/rolling" ]; then "$R/bin/sleep" 0.25; fi
done
"$verdict"
