# The first part of every job. `d` is the folder that contains the job's file `run`. A job ends only through `failed
# SLUG TEXT` or `end EXIT`, which write the exit code atomically with a rename. `progress DONE [TOTAL]` records the
# progress in bytes. `activity WHAT` records the job's current activity (receiving, waiting, comparing, serving) and
# `kept`: how many of the bytes in DONE the node already had. The job links its process ID to `pid`. If a second copy
# starts, this link fails and that copy exits.
#
# Uses ../../node/shell/must.sh
# Prints: nothing; exits with 1 if the script is not a job's file `run`
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
