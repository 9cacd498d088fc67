import { below, pathWord, place, tool } from '../paths/node-paths.ts';

/** The exit of a probe that leaves the RDMA devices alone instead of asking a verbs tool. */
export const leftAloneExit = 75;

/** What it then prints behind the program that has not returned. */
export const notReturnedWords = 'has not returned';

/** Stands for that program where the node cannot tell whether there is one. */
export const unseenTool = '-';

/**
 * Prints what the RDMA driver holds in the kernel: the count of its objects, where there are any below `ioreg` the lines
 * about each device, below `ps` and the numbers of the verbs tools that have run for a second these and the processes that
 * hold devices, then `end`. It opens no device. A process without a line is gone; this shell has one, so that `ps` succeeds.
 *
 * Whatever happens, it ends by writing to the file `verbs` of the private folder: an empty line, or which program has
 * not returned. A process that loads a model is in uninterruptible wait for moments, so that alone is no proof. The files k1 and
 * k2 are its own, too. Its tools run in the background: a shell hears no signal before one in front ends.
 *
 * @see ioclasscount.c and ioreg.c in Apple's IOKitTools: neither needs root
 * @see pgrep(1): exit 1 is no process; ps(1) of macOS: `U` is uninterruptible wait, `ucomm` the name that IOKit also uses
 */
export const rdmaKernelScript = `trap "s=${unseenTool}; e; kill -9 \\$!; wait; exit 142" ALRM HUP TERM
c=AppleThunderboltRDMA s=${unseenTool} k="" i=""
e() { printf "%s\\n" "\${s:+$s ${notReturnedWords}}" >verbs; }
trap e 0
r() { "$@" & wait $!; }
r ${pathWord(tool.pgrep)} ^ibv_ >k1
case $? in (0 | 1) ;; (*) exit ;; esac
while read -r p; do k=$k,$p; done <k1
if [ -n "$k" ]; then r ${pathWord(tool.sleep)} 1; else s=""; fi
r ${pathWord(tool.ioclasscount)} \${c}ProtectionDomain \${c}QueuePair >k1 || exit
read -r x <k1
printf "%s\\n" "$x"
l=$$$k
case $x in (*" = "[1-9]*)
r ${pathWord(tool.ioreg)} -r -c \${c}Interface -l >k1 || exit
r ${pathWord(tool.awk)} "/[+]-o |IOPowerM|Creator/" k1 >k2 || exit
printf "ioreg\\n"
while IFS= read -r x; do
printf "%s\\n" "$x"
case $x in
(*", inactive, "*) i=1 ;;
(*Creator*"pid "*) x=\${x#*pid } l=$l,\${x%%,*} ;;
esac
done <k2 ;; esac
if [ "$l" != $$ ]; then
s=${unseenTool}
r ${pathWord(tool.ps)} -o pid=,pgid=,stat=,ucomm= -p "$l" >k1 || exit
s=""
printf "ps%s\\n" "$k"
while read -r p g t x; do
printf "%s %s %s %s\\n" "$p" "$g" "$t" "$x"
case ,$k,:$i$t in (*",$p,"* | *:1U*) s="$x (pid $p)" ;; esac
done <k1
fi
printf "end\\n"`;

/**
 * Waits until the kernel has been read, since a verbs tool would be among the holders of every device. Exits where a
 * program has not returned: a second verbs tool would hang behind it, and no signal ends it.
 *
 * @see SQCU/mesh, RDMA-RULES.md: 478 hung ibv_devinfo behind one deadlock
 */
export const awaitKernel = `until read -r s <verbs; do ${pathWord(tool.sleep)} 0.1; done 2>/dev/null
[ -z "$s" ] || { printf "%s\\n" "$s" >&2; exit ${leftAloneExit}; }
exec `;

/** What the probe of the RDMA devices then prints behind the placement whose rank is starting. */
export const startingWords = 'is starting';

/** No start may take longer, so that a mark from before a jump of the clock counts for nothing. */
const longestStartSeconds = 86_400;

const listensOn = `$1 ~ /^tcp/ && $NF == "LISTEN" { sub(/^.*[.:]/, "", $4); if ($4 == q) f = 1 }
END { exit !f }`;

/**
 * `ibv_devinfo -v`, unless a rank over RDMA is starting on the node. The tool opens every device, and a start that is
 * making its queue pairs must have them for itself. A rank is starting from its kick until it listens where a member
 * that has joined listens, ends, or its time is over; one without a port of its own has joined as soon as it runs, as
 * everywhere. Where no start is marked this costs no process. Nor is it opened while a verbs tool has not returned.
 */
export const rdmaPortsScript = `n='' u=''
for f in ${pathWord(below(place.ours, 'placements/'))}*/start; do
  [ -r "$f" ] || continue
  m='' t='' i='' q='' k='' e='' y=''
  while IFS= read -r x; do
    case $x in (boot=*) m=\${x#*=} ;; (until=*) t=\${x#*=} ;; (pid=*) i=\${x#*=} ;; (transport=*) y=\${x#*=} ;; esac
  done <"$f"
  [ "$y" != tcp ] || continue
  case $t in ('' | *[!0-9]*) continue ;; esac
  [ -n "$n" ] || n=$(${pathWord(tool.date)} +%s)
  [ "$n" -lt "$t" ] || continue
  [ $((t - n)) -le ${longestStartSeconds} ] || continue
  [ -n "$u" ] || u=$(${pathWord(tool.sysctl)} -n kern.bootsessionuuid)
  [ "$m" = "$u" ] || continue
  case $i in
    (0) continue ;;
    ('' | *[!0-9]*) i='' ;;
    (*) [ -n "$(${pathWord(tool.ps)} -o pid= -p "$i")" ] || continue ;;
  esac
  [ ! -r "\${f%start}record" ] || while IFS= read -r x; do
    case $x in (port=*) q=\${x#*=} ;; (rank=*) k=\${x#*=} ;; (endpointPort=*) e=\${x#*=} ;; esac
  done <"\${f%start}record"
  [ -z "$i" ] || [ "$q" != 0 ] || continue
  [ -z "$i" ] || [ "$k" = 0 ] || [ "$q" != "$e" ] || continue
  ${pathWord(tool.netstat)} -an -f inet -p tcp 2>/dev/null | ${pathWord(tool.awk)} -v "q=$q" '${listensOn}' && continue
  f=\${f%/start}
  printf 'a rank of %s ${startingWords}\\n' "\${f##*/}" >&2
  exit ${leftAloneExit}
done
${awaitKernel}${pathWord(tool.ibvDevinfo)} -v`;
