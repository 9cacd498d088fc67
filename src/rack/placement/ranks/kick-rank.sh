# Starts a ready rank, unless its account can become root; leaves a running rank unchanged. If the runtime of a running
# rank is about to load the model again, this is counted and marked like a start. The start is counted first, so a start
# with an unknown outcome also counts. The process ID is stored with the process's start time, so that a
# later stop recognizes the process.
#
# The start mark records the start deadline, the log offset, the previous transport if it differed from the cluster
# file, the number of slots that the start takes on each device, and the earlier boot session in which the previous
# start failed. It also records the GPU's wired limit, because the log's messages about memory depend on this limit.
#
# Uses ../../../node/shell/service.sh
# Uses ../../../node/shell/wired-memory.sh
# Uses ../../../node/shell/refuse-root.sh
# Needs folder: the rank's folder, which contains its record
# Needs generation: the prepared record's generation
# Needs user: the rank's account; empty for the user who ran sudo
# Needs log: the log that launchd appends to
# Needs transport: the rank's transport, such as rdma
# Needs takes: the number of slots that a start over RDMA takes on each device
# Needs seconds: the start deadline, in seconds from now
# Needs last_talked: the transport of the previous start, if it differed from the cluster file; otherwise empty
# Needs reload: 1 if a running rank is about to load the model again
# Prints: @changed or @unchanged; fails with no-record, other-generation, not-loaded, ended-at-once
d=$folder
# Counts the slots that a start over RDMA takes. The file that contains this count stays on the node when a placement is
# removed.
count_start() {
  m='' k=0
  [ ! -e "$b/rdma-starts" ] || while IFS= read -r x; do
    case $x in (boot=*) m=${x#*=} ;; (starts=*) k=${x#*=} ;; esac
  done <"$b/rdma-starts"
  case $k in ('' | *[!0-9]*) k=0 ;; esac
  [ "$m" = "$u" ] || k=0
  write "$b/rdma-starts" "boot=$u${N}starts=$((k + takes))$N"
}
# `p` is the boot session in which the previous start failed, if that was an earlier session.
mark_start() {
  m='' k='' p=''
  [ ! -e "$d/start" ] || while IFS= read -r x; do
    case $x in (boot=*) m=${x#*=} ;; (outcome=*) k=${x#*=} ;; (failedIn=*) p=${x#*=} ;; esac
  done <"$d/start"
  case $k in (failed | exited) [ "$m" = "$u" ] || p=$m ;; (*) p='' ;; esac
  z=0
  [ ! -e "$log" ] || z=$("$R/usr/bin/stat" -f %z "$log")
  q=$("$R/usr/sbin/sysctl" -n iogpu.wired_limit_mb 2>/dev/null) || q=''
  i="boot=$u${N}transport=$transport${N}until=$(($("$R/bin/date" +%s) + seconds))${N}log=$z${N}wired=$q$N"
  [ -z "$last_talked" ] || i="${i}lastTalked=$last_talked$N"
  [ "$transport" != rdma ] || i="${i}takes=$takes$N"
  [ -z "$p" ] || i="${i}failedIn=$p$N"
  write "$d/start" "$i"
}
[ -e "$d/record" ] || failed no-record 'the rank has no record: it was not prepared'
g='' s='' c=0 r=''
while IFS= read -r x; do
  case $x in
    (generation=*) g=${x#*=} ;;
    (startedIn=*) s=${x#*=} && continue ;;
    (starts=*) c=${x#*=} && continue ;;
  esac
  r=$r$x$N
done <"$d/record"
[ "$g" = "$generation" ] || failed other-generation "the record has generation $g"
look || failed not-loaded 'launchd does not have the service'
if [ -n "$reload" ]; then
  [ -n "$pid" ] || failed not-loaded 'the rank has no process'
else
  [ -z "$pid" ] || unchanged
fi
refuse_marked
refuse_root "$user"
keep_wired
case $c in ('' | *[!0-9]*) c=0 ;; esac
[ "$s" = "$u" ] || c=0
write "$d/record" "${r}startedIn=$u${N}starts=$((c + 1))$N"
[ "$transport" != rdma ] || count_start
mark_start
[ -n "$reload" ] || must launchctl "$R/bin/launchctl" kickstart "$L"
# Checks four times a second for the service's process, because launchd may delay a start by ten seconds.
n=0
while look && [ -z "$pid" ]; do
  n=$((n + 1))
  case $st in ('spawn scheduled' | spawning | xpcproxy) c=60 ;; (*) c=8 ;; esac
  [ "$n" -lt "$c" ] || { write "$d/start" "${i}pid=0$N"; failed ended-at-once 'the rank exited right after its start'; }
  "$R/bin/sleep" 0.25
done
[ -n "$pid" ] || failed not-loaded 'launchd no longer has the service'
write "$d/process" "boot=$u${N}pid=$pid${N}start=$("$R/bin/ps" -o lstart= -p "$pid")$N"
write "$d/start" "${i}pid=$pid$N"
changed
