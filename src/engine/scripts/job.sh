# This code comes first in every job's `run` file. `d` is the folder that contains this file. A job exits only through
# `failed SLUG TEXT` or `end EXIT`, which record the exit code atomically by renaming a file. `progress DONE [TOTAL]`
# records the progress in bytes. `activity WHAT` records the job's current activity (receiving, waiting, comparing,
# serving) and `kept`, the number of DONE bytes that the node already had. The job writes its process ID to a temporary
# file and links that file to `pid`. If a second copy of the job starts, its link fails and it exits.
#
# Uses ../../node/shell/must.sh
# Prints: nothing; exits with 1 if the script is not a job's `run` file
trap '' HUP PIPE
d=${0%/run}
case $d in (/*) ;; (*) exit 1 ;; esac
N='
'
put() {
  printf '%s\n' "$2" >"$d/$1.$$" && "$R/bin/mv" -f "$d/$1.$$" "$d/$1"
}
end() {
  put rc "$1"
  exit "$1"
}
failed() {
  m=$1
  case $2 in (*'No space left on device'*) m=disk-full ;; esac
  put failure "$m ${2%%"$N"*}"
  end 1
}
progress() {
  put progress "$*"
}
kept=0
activity() {
  put activity "$1 $kept"
}
printf '%s\n' "$$" >"$d/pid.$$" && "$R/bin/ln" "$d/pid.$$" "$d/pid" 2>/dev/null
x=$?
"$R/bin/rm" -f "$d/pid.$$"
[ "$x" -eq 0 ] || exit 0
