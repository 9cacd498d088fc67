import { below, pathWord, place, tool } from '../paths/node-paths.ts';

/** Exit code of a probe that left the RDMA devices untouched. */
export const leftAloneExit = 75;

/** Printed after the name of the program that has not returned. */
export const notReturnedWords = 'has not returned';

/** Replaces the program's name if it is unknown. */
export const unseenTool = '-';

/**
 * Prints the RDMA driver's state in the kernel without opening a device: the number of its objects; if there are any,
 * the lines about each device below `ioreg`; below `ps`, the verbs tools that have run for a second and the processes
 * that have opened devices; then `end`. A process without a line is gone. This shell has a line, so `ps` always
 * succeeds.
 *
 * In any case, it finally writes to the file `verbs` in the private folder: an empty line, or the program that has not
 * returned. A process that loads a model is briefly in uninterruptible wait, so that this state is not sufficient
 * proof. The script also uses the files k1 and k2. Its tools run in the background, because a shell handles signals
 * only after a foreground tool exits.
 *
 * @see ioclasscount.c and ioreg.c in Apple's IOKitTools: neither needs root
 * @see pgrep(1): exit 1 means no process; ps(1) of macOS: `U` is uninterruptible wait, `ucomm` is the name that IOKit
 * also uses
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
 * Waits until the kernel state has been read, because a verbs tool opens every device. Exits if a program has not
 * returned: a second verbs tool would hang too, and no signal would stop it.
 *
 * @see SQCU/mesh, RDMA-RULES.md: 478 hung ibv_devinfo behind one deadlock
 */
export const awaitKernel = `until read -r s <verbs; do ${pathWord(tool.sleep)} 0.1; done 2>/dev/null
[ -z "$s" ] || { printf "%s\\n" "$s" >&2; exit ${leftAloneExit}; }
exec `;

/** Printed by the RDMA device probe after the name of a placement whose rank is starting. */
export const startingWords = 'is starting';

/** Maximum age of a start mark. No start takes longer, so marks from before a clock jump are ignored. */
const longestStartSeconds = 86_400;

const listensOn = `$1 ~ /^tcp/ && $NF == "LISTEN" { sub(/^.*[.:]/, "", $4); if ($4 == q) f = 1 }
END { exit !f }`;

/**
 * Runs `ibv_devinfo -v`, unless an RDMA rank is starting on the node or another verbs tool has not returned. The tool
 * opens every device, but a starting rank needs exclusive access to its devices to create queue pairs. A rank is
 * starting until it listens like a joined rank, exits, or exceeds its deadline; a rank without a port of its own has
 * joined as soon as it runs. Without start marks, this check needs no process.
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
