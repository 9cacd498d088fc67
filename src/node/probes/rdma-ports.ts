import { below, pathWord, place, tool } from '../paths/node-paths.ts';
import { awaitKernel, leftAloneExit } from './rdma-kernel.ts';

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
