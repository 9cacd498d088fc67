# Steals the observed lease; prints its owner instead if the lease has changed or a script is still running under it. A
# hung script would keep the lease forever, so a hasty run does not wait for it.
#
# Uses sign-lease.sh
# Uses lease-away.sh
# Needs seen_run: the run that had the lease; empty if it had not signed the lease
# Needs seen_token: the observed lease's token
# Needs seen_heartbeat: the last heartbeat observed
# Words: the lines of the owner file except run and token
# Prints: the output of `take`
# Lets only one thief continue at a time. Ages are compared only between files on the node, so no clock has to be right.
# If the clock was set back, the guard may be dated in the future. The guard of an interrupted takeover expires after
# one minute.
guard() {
  G="$b/lease.steal"
  trap '[ -z "$G" ] || "$R/bin/rmdir" "$G"' EXIT
  "$R/bin/mkdir" "$G" 2>/dev/null && return
  true >"$b/now.$$"
  x=$("$R/usr/bin/stat" -f %m "$b/now.$$") y=$("$R/usr/bin/stat" -f %m "$G" 2>/dev/null)
  "$R/bin/rm" -f "$b/now.$$"
  x=$((x - ${y:-x}))
  [ "${x#-}" -lt 60 ] || "$R/bin/rmdir" "$G"
  G=''
  shown
}
if [ -d "$b/lease" ]; then
  [ -n "$hasty" ] || ! isbusy "$b/lease" || shown
  guard
  away stolen "$seen_run" "$seen_token" "$seen_heartbeat" || shown
fi
take "$@"
