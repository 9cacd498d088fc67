import { pathWord, place, tool } from '../paths/node-paths.ts';
import {
  gatewayLabel,
  gatewayStatusStart,
  gatewayStatusUrl,
  gatewaysFolder,
  rankServiceLabel,
} from '../paths/own-paths.ts';
import { recordProbe } from './probe.ts';

/** More than the size of a gateway's report on a hundred placements. */
const mostStatusBytes = 65_536;

/** Size limit for the reports of all gateways on a node; a placement needs about 400 bytes. */
const allStatusBytes = 98_304;

/** Prints the names in a gateway's report with a leading `|`; nothing for other responses. */
const namesBehind = `index($0, "${gatewayStatusStart.replaceAll('"', '\\"')}") == 1 {
  while (match($0, /"placement":"[A-Za-z0-9._-]+"/)) {
    print "|" substr($0, RSTART + 13, RLENGTH - 14)
    $0 = substr($0, RSTART + RLENGTH)
  }
}`;

/** Prints the stopped processes in the groups of the services in `q`, as `GROUP=LABEL`. @see ps(1): T */
const suspendedIn = `BEGIN { n = split(q, a, " "); for (i = 1; i <= n; i++) { split(a[i], b, "="); l[b[1]] = b[2] } }
($2 in l) && $3 ~ /^T/ { print "suspended " l[$2] " " $1 }`;

/**
 * Prints launchd's state of each of our property lists: a line `service LABEL EXIT`, the tool's lines with a leading
 * `|`, and `end`. Ranks with a record but no property list are included, because launchd keeps loaded services. Each
 * loaded gateway is asked for its placements: `answer LABEL EXIT` with curl's exit code and the names of the
 * placements, and `status LABEL` with the report in base64, on lines with a leading `|`. The report is empty if it is
 * too long or comes from a different program. For a process in the process group of a rank that a signal has stopped,
 * prints `suspended LABEL PID`. File names of the node are expanded only inside quotes. The watchdog's
 * ALRM also stops a hanging tool. Runs in the observation's private folder and uses its `print` file.
 */
const script = `trap "kill -9 \\$! 2>/dev/null; wait; exit 142" ALRM HUP TERM
f=${pathWord(place.launchDaemons)}
if [ ! -d "$f" ] || [ ! -r "$f" ] || [ ! -x "$f" ]; then
  printf "unreadable\\n"
  exit 0
fi
B=${allStatusBytes} Q=""
v() {
  case $l in (*[!A-Za-z0-9._-]*)
    printf "odd\\n"
    return 0
  ;; esac
  ${pathWord(tool.launchctl)} print "system/$l" >print 2>&1 &
  wait "$!"
  y=$?
  printf "service %s %s\\n" "$l" "$y"
  i=""
  while IFS= read -r x || [ -n "$x" ]; do
    printf "|%s\\n" "$x"
    case $i$x in ("\tpid = "* | "    pid = "*) i=\${x##* } ;; esac
  done <print
  [ "$y" = 0 ] || return 0
  case $i:$l in ([0-9]*:${rankServiceLabel('*')}) Q="$Q $i=$l" ;; esac
  case $l in (${gatewayLabel('*')}) ;; (*) return 0 ;; esac
  q=\${l##*.}
  case $q in ('' | *[!0-9]*) return 0 ;; esac
  u=${pathWord(gatewaysFolder)}/$q/own
  [ -r "$u" ] || u=/dev/null
  ${pathWord(tool.curl)} -q -s --noproxy "*" -m 2 -H "@$u" "${gatewayStatusUrl('$q')}" >print 2>/dev/null &
  wait "$!"
  printf "answer %s %s\\n" "$l" "$?"
  ${pathWord(tool.head)} -c ${mostStatusBytes} print | ${pathWord(tool.awk)} '${namesBehind}'
  printf "status %s\n" "$l"
  IFS= read -r x <print
  case $x in ('${gatewayStatusStart}'*) ;; (*) return 0 ;; esac
  z=$(${pathWord(tool.wc)} -c <print)
  z=$((z))
  [ "$z" -le "$B" ] || return 0
  B=$((B - z))
  ${pathWord(tool.base64)} <print | ${pathWord(tool.awk)} '{ print "|" $0 }'
}
for p in "$f/"dev.meshwright.*.plist; do
  [ -e "$p" ] || [ -h "$p" ] || continue
  l=\${p##*/}
  l=\${l%.plist}
  v
done
b=${pathWord(place.ours)}
for p in "$b/placements/"*; do
  l=${rankServiceLabel('')}\${p##*/}
  if [ ! -e "$p/record" ] || [ -e "$f/$l.plist" ] || [ -h "$f/$l.plist" ]; then continue; fi
  v
done
if [ -n "$Q" ]; then
  ${pathWord(tool.ps)} -ax -o pid= -o pgid= -o stat= 2>/dev/null | ${pathWord(tool.awk)} -v "q=$Q" '${suspendedIn}'
fi
printf "end\\n"`;

export const launchdServices = recordProbe('launchd-services', script, 10_000);
