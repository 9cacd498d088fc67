import { pathWord, tool } from '../paths/node-paths.ts';

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
