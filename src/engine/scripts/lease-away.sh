# `isasseen FOLDER RUN TOKEN [HEARTBEAT]` tests whether the lease in FOLDER still has this run, token and heartbeat.
# `away SUFFIX RUN TOKEN [HEARTBEAT]` removes the node's lease: it renames the lease, checks the lease again, and then
# deletes it. `away` restores the renamed lease if it turns out to be a different lease (exit code 1) or, unless `hasty`
# is set, if a script is still running under it (exit code 2).
#
# Uses lease-owner.sh
# Uses lease-busy.sh
# Needs hasty: 1 to ignore scripts that are still running under a lease
# Prints: nothing
isasseen() {
  z=0
  [ ! -e "$1/heartbeat" ] || IFS= read -r z <"$1/heartbeat"
  owned "$1" "$2" "$3" && [ "${4-$z}" = "$z" ]
}
away() {
  g="$b/lease.$1.$$"
  shift
  isasseen "$b/lease" "$@" && [ ! -e "$g" ] && "$R/bin/mv" "$b/lease" "$g" 2>/dev/null || return 1
  y=0
  isasseen "$g" "$@" || y=1
  [ -n "$hasty" ] || ! isbusy "$g" || y=2
  if [ "$y" -eq 0 ]; then
    "$R/bin/rm" -rf "$g"
  elif "$R/bin/mkdir" "$b/lease" 2>/dev/null; then
    "$R/bin/mv" "$g"/* "$b/lease/" || "$R/bin/rmdir" "$b/lease"
    "$R/bin/rmdir" "$g"
  fi 2>/dev/null
  return "$y"
}
