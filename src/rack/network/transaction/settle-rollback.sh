# Settles a change of the network whose run is gone: no run has seen that the node can be reached with it, so that it
# is taken back now, without waiting for its time to be over. A script that still changes, and a process that already puts
# back, are awaited, four looks in a second; what a process has left half done is done again. A function `putback` restores
# what was saved.
#
# Uses arm.sh
# Needs run: that made the change
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
    # Who has just claimed has not written down yet who he is.
    if [ "$dead" -gt 4 ]; then
      putback
      disarm
    fi
  fi
  n=$((n + 1))
  [ "$n" -lt 240 ] || failed still-changing "process $ap still works on it"
  if [ -d "$rb/pending" ] || [ -d "$rb/rolling" ]; then "$R/bin/sleep" 0.25; fi
done
"$verdict"
