# Limits the hours in which a job may download. The job's `hours` file contains the start and end of these hours, such
# as `22:00 06:00`; without this file, the job may download at any time. `launch-job` also updates the file while the
# job is running. `inhours` returns 1 outside the hours, and sets `left` to the number of seconds until the hours end.
# It always reads the Mac's current time of day, so neither a clock change nor sleep shifts the hours. `await_hours`
# waits until the hours begin, and returns 1 if it did not have to wait. While the job waits, its `until` file contains
# the time at which the hours begin. `waiting HH:MM` writes this file, and `resumed` removes it.
#
# Prints: nothing; fails with clock
waits='' peered=''
# `clock HHMMSS` sets `s` to the number of seconds since midnight. The leading 1 prevents 08 from being read as an octal
# number.
clock() {
  s=${1#??}
  s=$(((1${1%????} - 100) * 3600 + (1${s%??} - 100) * 60 + 1${1#????} - 100))
}
inhours() {
  left='' opens='' closes=''
  [ ! -e "$d/hours" ] || IFS=' ' read -r opens closes <"$d/hours"
  [ -n "$opens" ] || return 0
  s=$("$R/bin/date" +%H%M%S)
  case $s in ([0-2][0-9][0-5][0-9][0-6][0-9]) ;; (*) failed clock 'the time of day could not be read' ;; esac
  clock "$s"
  left=$s
  clock "${closes%:*}${closes#*:}00"
  left=$(((s - left + 86400) % 86400)) closes=$s
  clock "${opens%:*}${opens#*:}00"
  # The current time is within the hours if the time left until they end is at most their full length.
  [ "$left" -gt 0 ] && [ "$left" -le "$(((closes - s + 86400) % 86400))" ]
}
waiting() {
  waits=$1
  put until "$1"
  activity waiting
}
resumed() {
  waits=''
  "$R/bin/rm" -f "$d/until"
  activity receiving
}
await_hours() {
  waited=''
  until inhours; do
    waited=1
    [ "$waits" = "$opens" ] || {
      waiting "$opens"
      [ -z "$peered" ] || printf 'waits %s\n' "$opens" >&4
    }
    "$R/bin/sleep" 20
  done
  [ -n "$waited" ] || return 1
  resumed
  [ -z "$peered" ] || printf 'waits -----\n' >&4
}
