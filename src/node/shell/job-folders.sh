# `isrunning FOLDER` checks the ID and command line of a job's process to test whether the job is running, and sets `p`
# to the process ID. `cleared KEY` removes a job's folder if the job has exited or is about to exit.
#
# Prints: nothing
isrunning() {
  p=''
  [ -e "$1/pid" ] && IFS= read -r p <"$1/pid"
  case $p in ('' | *[!0-9]*) return 1 ;; esac
  case $("$R/bin/ps" -ww -o command= -p "$p") in (*"/${1##*/}/run"*) ;; (*) return 1 ;; esac
}
cleared() {
  [ -d "$b/ops/$1" ] || return 1
  [ -e "$b/ops/$1/rc" ] || ! isrunning "$b/ops/$1" || return 1
  "$R/bin/rm" -rf "$b/ops/$1"
}
