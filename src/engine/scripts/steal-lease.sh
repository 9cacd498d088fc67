# Takes over the observed lease; if the lease has changed or a script is still running under it, prints the lease's
# owner instead. If `hasty` is set, running scripts are ignored, because a hung script would keep the lease forever.
#
# Uses sign-lease.sh
# Uses lease-away.sh
# Needs seen_run: the observed lease's run; empty if no run had signed the lease
# Needs seen_token: the observed lease's token
# Needs seen_heartbeat: the observed lease's heartbeat
# Arguments: the lines of the owner file, except for the run and the token
# Prints: the output of `take`
# `guard` creates a folder, so that only one run at a time can take over a lease. It compares only timestamps of files
# on the node, so the clock does not have to be right. If the clock was set back, the folder's timestamp can be in the
# future. A folder that an interrupted takeover left behind expires after one minute.
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
