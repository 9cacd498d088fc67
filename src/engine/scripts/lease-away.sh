# `isasseen FOLDER RUN TOKEN [BEAT]` compares a lease. `away SUFFIX RUN TOKEN [BEAT]` renames the one that is there,
# and puts it back when it turns out to be another one, or when a script runs under it and `hasty` is empty: then it returns 2.
#
# Uses lease-owner.sh
# Uses lease-busy.sh
# Needs hasty: 1 where scripts that run under a lease are not waited for
# Prints: nothing
isasseen() {
  z=0
  [ ! -e "$1/beat" ] || IFS= read -r z <"$1/beat"
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
