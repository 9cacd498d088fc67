# `family PROCESS` prints the IDs of all descendants of a process. `pressed WHAT` sends a signal to the processes in `c`
# that still exist: SIGTERM at first, SIGKILL after ten seconds. It returns 1 once no process is left. If a process
# still exists after twenty seconds, the script fails. The caller sets `n` to 0 and calls `pressed` until it returns 1.
#
# Prints: nothing; fails with still-running
family() {
  "$R/bin/ps" -ax -o pid= -o ppid= 2>/dev/null | "$R/usr/bin/awk" -v top="$1" '{ parent[$1] = $2 }
END { for (one in parent) { up = one; n = 0; while (up in parent && n++ < 64) { up = parent[up]; if (up == top) { print one; break } } } }'
}
pressed() {
  x=''
  for q in $c; do kill -0 "$q" 2>/dev/null && x="$x $q"; done
  [ -n "$x" ] || return 1
  c=$x s=KILL
  [ "$n" -ge 40 ] || s=TERM
  for q in $c; do kill -s "$s" "$q" 2>/dev/null; done
  n=$((n + 1))
  [ "$n" -lt 80 ] || failed still-running "$1 still runs as process$c"
  "$R/bin/sleep" 0.25
}
