# `session` sets `u` to the current boot session. `marked` tests whether the Mac has a reboot mark from this boot
# session, and sets `w` to the reason for the mark. `refuse_marked` prevents a start on a Mac with such a mark. If the
# reason is memory, `refuse_marked` first measures the wired memory again, because a different program may have wired
# it, and removes the mark if the value has fallen. `slack` sets `z` to the allowed difference from the baseline `B`, in
# bytes. `others` tests whether a rank of any placement other than the one in `$d` is running. `keep_wired` records the
# wired memory as the baseline before the first rank of this boot session starts. Once a rank has run, the ranks' share
# of the wired memory is unknown, so no baseline is recorded. `mark WHY` writes the reboot mark, which shows the next
# plan that this Mac needs a restart. After a rank has stopped, `judge_wired` sets `m` to the state of the wired memory:
# `normal`, `high`, or `unknown` with the reason. The calling script defines `wired`, which prints the number of wired
# bytes, or nothing if that number is unknown.
#
# Needs slack_bytes: the number of wired bytes above the baseline that are always allowed
# Prints: nothing; fails with sysctl, reboot-mark
session() {
  u=$("$R/usr/sbin/sysctl" -n kern.bootsessionuuid)
  [ -n "$u" ] || failed sysctl 'the boot session is unknown'
}
marked() {
  x='' w=''
  [ -e "$b/reboot-mark" ] || return 1
  while IFS= read -r y; do
    case $y in (boot=*) x=${y#*=} ;; (why=*) w=${y#*=} ;; esac
  done <"$b/reboot-mark"
  [ "$x" = "$u" ]
}
slack() {
  z=$((B / 10))
  [ "$z" -ge "$slack_bytes" ] || z=$slack_bytes
}
others() {
  for f in "$b/placements/"*/process; do
    if [ ! -e "$f" ] || [ "$f" = "$d/process" ]; then continue; fi
    x='' q='' t=''
    while IFS= read -r y; do
      case $y in (boot=*) x=${y#*=} ;; (pid=*) q=${y#*=} ;; (start=*) t=${y#*=} ;; esac
    done <"$f"
    case $x:$q in ("$u":[0-9]*) ;; (*) continue ;; esac
    [ "$("$R/bin/ps" -o lstart= -p "$q")" != "$t" ] || return 0
  done
  return 1
}
baseline() {
  x='' B=''
  [ -e "$b/wired-baseline" ] || return 1
  while IFS= read -r y; do
    case $y in (boot=*) x=${y#*=} ;; (wired=*) B=${y#*=} ;; esac
  done <"$b/wired-baseline"
  [ "$x" = "$u" ] || return 1
  case $B in ('' | *[!0-9]*) return 1 ;; esac
}
keep_wired() {
  ! baseline || return 0
  for f in "$b/placements/"*/record; do
    [ -e "$f" ] || continue
    while IFS= read -r y; do
      case $y in ("startedIn=$u") return 0 ;; esac
    done <"$f"
  done
  W=$(wired)
  [ -n "$W" ] || return 0
  write "$b/wired-baseline" "boot=$u${N}wired=$W$N"
}
fallen() {
  baseline || return 1
  W=$(wired)
  slack
  [ -n "$W" ] && [ "$W" -le $((B + z)) ]
}
refuse_marked() {
  session
  ! marked || { [ "$w" = memory ] && fallen && "$R/bin/rm" -f "$b/reboot-mark"; } || failed reboot-mark "this Mac needs a restart: a stopped rank left something that only a restart removes ($w)"
}
mark() {
  write "$b/reboot-mark" "boot=$u${N}why=$1${N}placement=${d##*/}$N${2-}"
}
judge_wired() {
  baseline || { m='unknown (not measured before the first start of this boot session)'; return; }
  ! others || { m='unknown (another placement runs here)'; return; }
  slack
  n=0 m=normal
  # Checks four times a second for up to five seconds, because the kernel needs time to free the memory of exited
  # processes.
  while W=$(wired) && [ -n "$W" ] && [ "$W" -gt $((B + z)) ]; do
    n=$((n + 1))
    [ "$n" -lt 20 ] || { m=high; return; }
    "$R/bin/sleep" 0.25
  done
  [ -n "$W" ] || m='unknown (vm_stat does not say it)'
}
