# Stops a rank: sends SIGINT if requested, then SIGTERM, waits for the grace period, samples the stacks of a remaining
# process, sends SIGKILL to all remaining processes, unloads the service, and checks the wired memory. The script
# succeeds only if no process of the rank is left. It prints how the rank ended: `ended=clean`; `ended=killed`, with the
# sample's name in `sample=`; `ended=reboot-mark` if more memory stays wired than before any rank ran (the node then
# also gets a reboot mark); `ended=unknown` if the rank exited without SIGKILL and the state of the wired memory is
# unknown. If a process survives SIGKILL, it is stuck in the kernel, and only a restart of the Mac helps. The script
# then fails, unless a restart comes next; in that case, it prints `ended=reboot-mark`, with the process IDs in
# `processes=`. A missing rank counts as stopped.
#
# Uses ../../../node/shell/service.sh
# Uses ../../../node/shell/wired-memory.sh
# Needs folder: the rank's folder, which contains its record
# Needs interrupt: the number of checks after SIGINT, four per second, or 0 to send no SIGINT; some programs exit
# cleanly only on SIGINT
# Needs grace: the number of checks after SIGTERM, four per second
# Needs before_reboot: 1 if a restart of the Mac follows
# Needs outcome: the outcome to record in the last start's mark: served, hung or failed; empty to record none
# Prints: how the rank ended; @changed or @unchanged; fails with reboot-mark
d=$folder
# `family` replaces `F` with all living processes that are in `F`, descend from a process in `F`, or share a process
# group with a process in `F`. Zombies do not count.
family() {
  F=$("$R/bin/ps" -ax -o pid= -o ppid= -o pgid= -o stat= | "$R/usr/bin/awk" -v "seeds=$F" 'BEGIN { n = split(seeds, s, " "); for (i = 1; i <= n; i++) f[s[i]] = 1 }
{ parent[$1] = $2; group[$1] = $3; dead[$1] = $4 ~ /^Z/ }
END {
  do {
    more = 0
    for (p in parent) if (!(p in f) && ((parent[p] in f) || (group[p] in f))) { f[p] = 1; more = 1 }
  } while (more)
  for (p in parent) if ((p in f) && !dead[p]) printf "%s ", p
}')
}
# If launchd no longer knows the process of the last start, finds the process by its ID and start time. If that process
# has exited, finds its process group, whose ID stays in use while the group has members.
noted() {
  [ -e "$d/process" ] || return 0
  u='' q='' t=''
  while IFS= read -r x; do
    case $x in (boot=*) u=${x#*=} ;; (pid=*) q=${x#*=} ;; (start=*) t=${x#*=} ;; esac
  done <"$d/process"
  case $q in ('' | *[!0-9]*) return 0 ;; esac
  [ "$u" = "$("$R/usr/sbin/sysctl" -n kern.bootsessionuuid)" ] || return 0
  x=$("$R/bin/ps" -o lstart= -p "$q")
  if [ -z "$x" ] || [ "$x" = "$t" ]; then F=$q; fi
}
# Tests whether the rank was started in this boot session and no stop has recorded the start's outcome yet.
started() {
  x=''
  [ -e "$d/start" ] || return 1
  while IFS= read -r y; do
    case $y in (boot=*) x=${y#*=} ;; (outcome=*) return 1 ;; esac
  done <"$d/start"
  [ "$x" = "$u" ]
}
wait_for() {
  n=0
  while family && [ -n "$F" ] && [ "$n" -lt "$1" ]; do
    n=$((n + 1))
    "$R/bin/sleep" 0.25
  done
  [ -z "$F" ]
}
# Samples the stacks of a process before the process is killed. `f` is the path of the sample, or empty if `sample`
# wrote no file in time. Removes samples from four or more generations ago. sample(1): `sample pid duration -file
# filename`
sample_of() {
  g='' s=$b/log/sample-${d##*/}
  [ ! -e "$d/record" ] || while IFS= read -r y; do
    case $y in (generation=*) g=${y#*=} ;; esac
  done <"$d/record"
  case $g in ('' | *[!0-9]*) g=0 ;; esac
  for f in "$s-"*.txt; do
    x=${f#"$s-"}
    x=${x%.txt}
    case $x in ('' | *[!0-9]*) continue ;; esac
    [ "$x" -gt $((g - 4)) ] || "$R/bin/rm" -f "$f"
  done
  "$R/bin/mkdir" -p "$b/log"
  f=$s-$g.txt
  "$R/bin/rm" -f "$f"
  "$R/usr/bin/sample" "$1" 1 -file "$f" >/dev/null 2>&1 &
  q=$! n=0
  while kill -s 0 "$q" 2>/dev/null && [ "$n" -lt 40 ]; do
    n=$((n + 1))
    "$R/bin/sleep" 0.25
  done
  kill -s KILL "$q" 2>/dev/null
  wait "$q" 2>/dev/null
  [ -s "$f" ] || f=''
}
# Adds the outcome to the last start's mark, but only once. A rank that served and exited cleanly has released its
# device slots, so the count of used slots is reduced. The mark is written first, because an interrupted stop may count
# one start too many, but never one too few.
note_outcome() {
  [ -e "$d/start" ] || return 0
  i='' k=''
  while IFS= read -r x; do
    case $x in
      (boot=*) [ "${x#*=}" = "$u" ] || return 0 ;;
      (outcome=*) return 0 ;;
      (takes=*) k=${x#*=} ;;
    esac
    i=$i$x$N
  done <"$d/start"
  write "$d/start" "${i}outcome=$1$N"
  case $1:$how:$k in (served:clean:[1-9]) ;; (*) return 0 ;; esac
  q='' n=''
  [ ! -e "$b/rdma-starts" ] || while IFS= read -r x; do
    case $x in (boot=*) q=${x#*=} ;; (starts=*) n=${x#*=} ;; esac
  done <"$b/rdma-starts"
  case $n in ('' | *[!0-9]*) return 0 ;; esac
  [ "$q" != "$u" ] || [ "$n" -lt "$k" ] || write "$b/rdma-starts" "boot=$u${N}starts=$((n - k))$N"
}
tell() {
  if [ -n "$h" ]; then
    "$R/bin/launchctl" kill "SIG$1" "$L" >/dev/null 2>&1
  else
    for p in $F; do kill -s "$1" "$p" 2>/dev/null; done
  fi
}
ask_to_end() {
  # A suspended process receives these signals only after it continues.
  for p in $F; do kill -s CONT "$p" 2>/dev/null; done
  if [ "$interrupt" -gt 0 ]; then
    tell INT
    wait_for "$interrupt" && return
  fi
  tell TERM
  wait_for "$grace"
}
F='' h='' how=clean f=''
if look; then
  h=1
  F=$pid
fi
[ -n "$F" ] || noted
family
[ -n "$F$h" ] || unchanged
session
# If the program exited by itself, the outcome of the start is `exited` instead of `failed`.
v=$F w=failed
[ -n "$F" ] || {
  w=exited
  started && v=1
}
[ -z "$F" ] || ask_to_end || {
  how=killed
  sample_of "${F%% *}"
  [ -z "$h" ] || tell KILL
  for p in $F; do kill -s KILL "$p" 2>/dev/null; done
  wait_for 20 || {
    mark kernel "processes=$F$N"
    [ -n "$before_reboot" ] || failed reboot-mark "processes survived KILL: $F"
    # The service stays loaded, because a bootout would wait for the process.
    [ -z "$f" ] || printf 'sample=%s\n' "${f##*/}"
    printf 'processes=%s\nended=reboot-mark\n' "${F% }"
    changed
  }
}
[ -z "$h" ] || bootout
"$R/bin/rm" -f "$d/process"
[ -z "$f" ] || printf 'sample=%s\n' "${f##*/}"
m=normal
[ -z "$v" ] || judge_wired
case $m:$how in
  (high:*)
    mark memory "wired=$W${N}baseline=$B$N"
    printf 'wired=%s\nbaseline=%s\n' "$W" "$B"
    how=reboot-mark ;;
  (unknown*:clean) how=unknown ;;
esac
[ "$outcome" != failed ] || outcome=$w
[ -z "$outcome" ] || note_outcome "$outcome"
case $m in (unknown*) printf 'memory=%s\n' "$m" ;; esac
printf 'ended=%s\n' "$how"
changed
