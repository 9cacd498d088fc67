# The hours in which a job may download: its file `hours` has their begin and their end, such as `22:00 06:00`. Without the
# file, there is no limit. `launch-job` also writes the file of a running job. `inhours` returns 1 outside the hours, and
# leaves the seconds until they end in `left`. It reads the time of day of this Mac, so that neither a change of the clock
# nor a sleep moves the hours. `await_hours` waits until they begin, and returns 1 if it did not have to. The job's file
# `until` has the time for which the job waits. `waiting HH:MM` and `resumed` write and remove it.
#
# Prints: nothing; fails with clock
waits='' peered=''
# `clock HHMMSS` leaves the seconds since midnight in `s`. The leading 1 keeps 08 from being an octal number.
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
  # Within the hours, less time is left than all hours last.
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
