# `session` leaves the boot session in `u`; `marked` says whether a stop has found in it that only a restart of the Mac
# helps, and why in `w`. `refuse_marked` ends a start on such a Mac: what a stop took for memory of its rank may have been
# that of another program, so it is measured again, and the mark goes when it has fallen. `slack` leaves in `z` what the
# bytes of the baseline `B` may differ by. `others` says whether a rank of another placement than that of `$d` lives.
# `keep_wired` writes down what is wired before any rank ran in this boot session; where one ran before, its share is
# unknown, and there is no baseline. `mark WHY` writes down that only a restart of this Mac helps, for the next plan.
# `judge_wired` leaves in `m` how the wired memory is after the end of a rank: `normal`, `high`, or `unknown` with the
# reason. A function `wired` prints the bytes that are wired, or nothing.
#
# Needs slack_bytes: what wired memory moves by at least
# Prints: nothing; fails with sysctl, needs-reboot
session() {
  u=$("$R/usr/sbin/sysctl" -n kern.bootsessionuuid)
  [ -n "$u" ] || failed sysctl 'the boot session is not known'
}
marked() {
  x='' w=''
  [ -e "$b/needs-reboot" ] || return 1
  while IFS= read -r y; do
    case $y in (boot=*) x=${y#*=} ;; (why=*) w=${y#*=} ;; esac
  done <"$b/needs-reboot"
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
  ! marked || { [ "$w" = memory ] && fallen && "$R/bin/rm" -f "$b/needs-reboot"; } || failed needs-reboot "a rank that was stopped here left something that only a restart ends ($w)"
}
mark() {
  write "$b/needs-reboot" "boot=$u${N}why=$1${N}placement=${d##*/}$N${2-}"
}
judge_wired() {
  baseline || { m='unknown (nobody saw it before the first start of this boot session)'; return; }
  ! others || { m='unknown (another placement runs here)'; return; }
  slack
  n=0 m=normal
  # Four looks in a second, until memory has fallen that the kernel gives back after the end of a process.
  while W=$(wired) && [ -n "$W" ] && [ "$W" -gt $((B + z)) ]; do
    n=$((n + 1))
    [ "$n" -lt 20 ] || { m=high; return; }
    "$R/bin/sleep" 0.25
  done
  [ -n "$W" ] || m='unknown (vm_stat does not say it)'
}
