import { turnFunctions, turnLock } from '../endpoint/ask-endpoint.ts';
import { notAskedStatus } from '../endpoint/judge-answer.ts';
import { pathWord, place, tool } from '../paths/node-paths.ts';
import { rdmaStartsFile, rebootMarkFile } from '../paths/own-paths.ts';
import { printWired } from '../wired-memory.ts';
import { readRecordsFunctions } from './kept-scripts.ts';
import { recordProbe } from './probe.ts';

/**
 * The last part of the local address of every listener: `*.8080` and `10.77.0.1.8080` both listen on 8080. They are
 * printed below their head, which holds the exit of netstat and so is known last.
 */
const listeningPorts = `$1 ~ /^tcp/ && $NF == "LISTEN" { sub(/^.*[.:]/, "", $4); if (!s[$4]++) a = a "|" $4 "\\n" }
$1 == "exit" { printf "listening %s\\n%s", $2, a }`;

/** More than any answer to the request of one token has. */
const tokenBodyMaxBytes = 65_536;

/** So often a turn is tried for, half a second apart: a token of another observation takes no longer. */
const turnTries = 5;

/**
 * Asks the endpoint of a leader whose record has just been read, where somebody listens on its port: by its gateway where
 * there is one, else itself, and by turns where a second request could end the mesh. One that is not asked shows as the
 * status of that, and why.
 */
const askEndpoint = `[ "$k" = 0 ] || return 0
  case $q$m in ('' | *[!0-9]*) return 0 ;; esac
  case $t in (/*) ;; (*) return 0 ;; esac
  case $W in (*" $q "*) ;; (*) return 0 ;; esac
  [ "$m" -le 20000 ] || m=20000
  if ! g; then
    c=http://127.0.0.1:$q
    if [ "$O" = one ]; then
      if ! w ${turnTries}; then
        printf ${notAskedStatus} >"token-status.$n"
        printf %s "$f" >"token-body.$n"
        : &
        C="$C $n:$!"
        return 0
      fi
      D="$D $q"
      [ "$m" -le 3000 ] || m=$((m - 500 * i))
    fi
  fi
  ${pathWord(tool.curl)} -q -s -S --noproxy '*' -m $(((m + 999) / 1000)) -H 'Content-Type: application/json' \\
    -H 'meshwright-proof: traffic' -H "meshwright-wait: $((m / 2))" \\
    --data-binary "@$j/request" -o "token-body.$n" -w '%{http_code}' "$c$t" \\
    >"token-status.$n" 2>/dev/null &
  C="$C $n:$!"`;

/** Of the part of a log that is of the last start at most so much of its beginning, and of its end, is looked at. */
const logHeadBytes = 65_536;
const logEndBytes = 16_384;

/** What libraries say when a device, its queue pairs or its far end fail: jaccl names the errno, llama.cpp the act, perl and Python the words. */
const verbsWords = '[Ee]rrno|No route to host|[Pp]rotection domain|[Qq]ueue pair|RTR';

/**
 * Lines at the beginning of a log that say how much the GPU may use: of llama.cpp's Metal, and of the rank program of mlx.
 *
 * @see `ggml_metal_device_init` of ggml-metal-device.m
 */
const gpuWords = 'recommendedMaxWorkingSetSize|^meshwright: the GPU may use ';

/** So many lines of a log that its driver has a pattern for, the first ones and the last ones, each cut. */
const saidFirst = 48;
const saidLast = 8;

/** Stands in a log between its beginning and its end. */
const leftOut = '--left-out--';

/**
 * Prints the mark of the last start of a member; of its log since then the line about the GPU as `gpu`, the last one that
 * speaks of the verbs library as `complaint`, and the first and the last ones that match the pattern of its record as
 * `said1` to `said56`. Of a long log the middle is left out, and no line before that is a complaint of now. Whatever cannot
 * be printed shows as `?`. The pattern travels in the environment: awk would read escapes in a word of `-v`.
 */
const lastStart = `[ -e "$j/start" ] || return 0
  printf 'start %s\\n' "$n"
  o=0
  r "$j/start"
  case $o in ('' | *[!0-9]*) o=0 ;; esac
  f=${pathWord(place.log)}/$n.log
  [ -r "$f" ] || return 0
  z=$(${pathWord(tool.stat)} -f %z "$f") || return 0
  [ "$o" -le "$z" ] || o=0
  [ "$o" -lt "$z" ] || return 0
  {
    if [ $((z - o)) -gt ${logHeadBytes + logEndBytes} ]; then
      ${pathWord(tool.tail)} -c "+$((o + 1))" "$f" | ${pathWord(tool.head)} -c ${logHeadBytes}
      printf '\\n%s\\n' ${leftOut}
      o=$((z - ${logEndBytes}))
    fi
    ${pathWord(tool.tail)} -c "+$((o + 1))" "$f"
  } | P=$v ${pathWord(tool.awk)} 'function c(y) { gsub(/[^ -~]/, "?", y); return substr(y, 1, 200) }
BEGIN { p = ENVIRON["P"] }
$0 == "${leftOut}" { x = ""; next }
g == "" && /${gpuWords}/ { g = $0 }
/${verbsWords}/ { x = $0 }
p != "" && $0 ~ p { if (n < ${saidFirst}) a[n + 0] = $0; else k[n % ${saidLast}] = $0; n++ }
END {
  if (g != "") printf "|gpu=%s\\n", c(g)
  if (x != "") printf "|complaint=%s\\n", c(x)
  for (i = 0; i < n && i < ${saidFirst}; i++) printf "|said%d=%s\\n", ++m, c(a[i])
  for (i = (n > ${saidFirst + saidLast} ? n - ${saidLast} : ${saidFirst}); i < n; i++) printf "|said%d=%s\\n", ++m, c(k[i % ${saidLast}])
}'`;

/** Waits for the endpoints that were asked, and prints what each of them answered. */
const printTokens = `for p in $C; do
  wait "\${p#*:}"
  y=$? z=''
  n=\${p%%:*}
  IFS= read -r z <"token-status.$n"
  printf 'token %s %s %s\\n' "$n" "$y" "$z"
  [ -e "token-body.$n" ] || continue
  x=$(${pathWord(tool.head)} -c ${tokenBodyMaxBytes} "token-body.$n" | ${pathWord(tool.base64)})
  printf '|%s\\n' "$x"
done`;

/** Prints what is kept of a node as a whole: its starts over RDMA, and why it needs a restart, with the memory that is wired now. */
const printNodeFiles = `if s "$b" && [ -e ${pathWord(rdmaStartsFile)} ]; then
  printf 'rdma-starts\\n'
  r ${pathWord(rdmaStartsFile)}
fi
if s "$b" && [ -e ${pathWord(rebootMarkFile)} ]; then
  printf 'needs-reboot\\n'
  r ${pathWord(rebootMarkFile)}
  x=$(${printWired})
  [ -z "$x" ] || printf '|now=%s\\n' "$x"
fi`;

/** Gives the locks back (`d`), and ends the requests that are still under way when the watchdog says so. */
const leaving = `d() {
  for q in $D; do ${pathWord(tool.rmdir)} ${turnLock} 2>/dev/null; done
}
e() {
  for p in $C; do kill -9 "\${p#*:}" 2>/dev/null; done
  d
  exit 142
}
trap e ALRM HUP TERM`;

/**
 * Prints the record of each member of a placement, the TCP ports on which somebody listens, and what the endpoints of
 * leaders answered to the request of one token: `token NAME EXIT STATUS`, then the body in base64. Nothing connects to a port of
 * the ranks: who listens is told by the kernel. All endpoints are asked at once, each with its own deadline, and only
 * those on whose port somebody listens. Nodes without placements pay for none of this. Starts over RDMA are told with
 * their count in the boot session.
 *
 * Runs in the private folder of the observation, whose files it uses. ALRM of the watchdog ends its curls, too.
 */
const membersScript = (ask: string, turns: string): string => `b=${pathWord(place.ours)} C="" D="" W=' '
${leaving}
${readRecordsFunctions}
${turns}
l() {
  case $x in
    (rank=*) k=\${x#*=} ;;
    (endpointPort=*) q=\${x#*=} ;;
    (tokenPath=*) t=\${x#*=} ;;
    (tokenDeadlineMs=*) m=\${x#*=} ;;
    (log=*) o=\${x#*=} ;;
    (logPattern=*) v=\${x#*=} ;;
    (requests=*) O=\${x#*=} ;;
  esac
}
a() {
  ${ask}
}
h() {
  ${lastStart}
}
s ${pathWord(place.library)} || u
if s ${pathWord(place.applicationSupport)} && s "$b" && s "$b/placements"; then
  set -- "$b/placements/"*/record
  if [ -e "$1" ]; then
    {
      ${pathWord(tool.netstat)} -an -f inet -p tcp 2>/dev/null
      printf 'exit %s\\n' "$?"
    } | ${pathWord(tool.awk)} '${listeningPorts}' >token-ports
    while IFS= read -r x; do
      printf '%s\\n' "$x"
      case $x in ('|'*) W="$W\${x#?} " ;; esac
    done <token-ports
  fi
  for j in "$b/placements/"*; do
    [ -d "$j" ] || continue
    s "$j"
    [ -e "$j/record" ] || continue
    n=\${j##*/}
    case $n in (*[!A-Za-z0-9._-]*)
      printf 'odd\\n'
      continue
    ;; esac
    printf 'placement %s\\n' "$n"
    k='' q='' t='' m='' v='' O=''
    r "$j/record"
    h
    if [ -e "$j/golden" ]; then
      printf 'golden %s\\n' "$n"
      r "$j/golden"
    fi
    a
  done
fi
${printNodeFiles}
l() { :; }
${printTokens}
d
printf 'end\\n'`;

/**
 * Members of placements, who listens, and one token from each endpoint. The deadline is a little more than the longest
 * wait for a token that a run asks for (20 s, src/drivers).
 */
export const placementMembers = recordProbe('placement-members', membersScript(askEndpoint, turnFunctions), 22_000);

/** The same answer without a token: a look that must not wait for one, nor leave requests with a mesh that is half there. */
export const unaskedMembers = recordProbe('placement-members', membersScript(':', ''), 10_000);
