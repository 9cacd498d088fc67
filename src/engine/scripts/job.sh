# Begins every job. `d` is the folder that contains the job's file `run`. A job ends only through `failed SLUG TEXT` or
# `end EXIT`, which write the exit status atomically by a rename. `progress DONE [TOTAL]` counts bytes. `activity WHAT`
# records what the job does now (receiving, waiting, comparing, serving), and `kept`: the bytes in DONE that were on the node
# before. The process number is linked to `pid`, which fails if a second copy runs; that copy exits.
#
# Uses ../../node/shell/must.sh
# Prints: nothing; the exit is 1 if the script is not a job's file `run`
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
