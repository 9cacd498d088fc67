import { turnFunctions, turnLock } from '../endpoint/ask-endpoint.ts';
import { notAskedStatus } from '../endpoint/judge-answer.ts';
import { pathWord, place, tool } from '../paths/node-paths.ts';
import { rdmaStartsFile, rebootMarkFile } from '../paths/own-paths.ts';
import { printWired } from '../wired-memory.ts';
import { recordProbe } from './probe.ts';
import { readRecordsFunctions } from './stored-records-scripts.ts';

/**
 * The port in every listener's local address: `*.8080` and `10.77.0.1.8080` both listen on 8080. The ports are printed
 * below their head, which contains netstat's exit code and is therefore known last.
 */
const listeningPorts = `$1 ~ /^tcp/ && $NF == "LISTEN" { sub(/^.*[.:]/, "", $4); if (!s[$4]++) a = a "|" $4 "\\n" }
$1 == "exit" { printf "listening %s\\n%s", $2, a }`;

/** More than any response to the request for one token needs. */
const tokenBodyMaxBytes = 65_536;

/** Number of tries for a turn, half a second apart; another observation's token takes no longer than that. */
const turnTries = 5;

/**
 * Sends a request to a leader's endpoint if a program listens on its port: through the gateway if there is one, and in
 * turns if a second request could crash the mesh. If no request is sent, prints the status for that, with the reason.
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
    -H 'meshwright-proof: traffic' -H "meshwright-wait: $((m / 2))" -H "@$u" \\
    --data-binary "@$j/request" -o "token-body.$n" -w '%{http_code}' "$c$t" \\
    >"token-status.$n" 2>/dev/null &
  C="$C $n:$!"`;

/** Limits in bytes for the beginning and the end of the log since the last start. */
const logHeadBytes = 65_536;
const logEndBytes = 16_384;

/**
 * Pattern for messages about failed RDMA devices, queue pairs and peers: jaccl prints the errno, llama.cpp the
 * operation, perl and Python the message.
 */
const complaintWords = 'rrno|error: 65|No route to host|t reach|rotection domain|ueue pair|RTR';

/**
 * Pattern for lines with the GPU's memory limit at the beginning of a log, from llama.cpp's Metal backend and from the
 * mlx rank program.
 *
 * @see `ggml_metal_device_init` of ggml-metal-device.m
 */
const gpuWords = 'recommendedMaxWorkingSetSize|^meshwright: the GPU may use ';

/** Maximum number of log lines that match the driver's pattern: the first and the last ones, each truncated. */
const saidFirst = 48;
const saidLast = 8;

const leftOut = '--left-out--';

/**
 * Prints the mark of a rank's last start. From the log since that start, it prints the line about the GPU as `gpu`, the
 * last line about the verbs library as `complaint`, and the first and last lines that match the record's pattern as
 * `said1` to `said56`. The middle of a long log is skipped, and complaints before this gap are ignored. Unprintable
 * characters become `?`. The pattern is in the environment, because awk would process escapes in `-v`.
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
/${complaintWords}/ { x = $0 }
p != "" && $0 ~ p { if (n < ${saidFirst}) a[n + 0] = $0; else k[n % ${saidLast}] = $0; n++ }
END {
  if (g != "") printf "|gpu=%s\\n", c(g)
  if (x != "") printf "|complaint=%s\\n", c(x)
  for (i = 0; i < n && i < ${saidFirst}; i++) printf "|said%d=%s\\n", ++m, c(a[i])
  for (i = (n > ${saidFirst + saidLast} ? n - ${saidLast} : ${saidFirst}); i < n; i++) printf "|said%d=%s\\n", ++m, c(k[i % ${saidLast}])
}'`;

/** Waits for the requests to endpoints, and prints the responses. */
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

/** Prints node-wide values: the RDMA starts, and the reason for a needed restart with the currently wired memory. */
const printNodeFiles = `if s "$b" && [ -e ${pathWord(rdmaStartsFile)} ]; then
  printf 'rdma-starts\\n'
  r ${pathWord(rdmaStartsFile)}
fi
if s "$b" && [ -e ${pathWord(rebootMarkFile)} ]; then
  printf 'reboot-mark\\n'
  r ${pathWord(rebootMarkFile)}
  x=$(${printWired})
  [ -z "$x" ] || printf '|now=%s\\n' "$x"
fi`;

/** Releases the locks (`d`), and stops pending requests at the watchdog's signal. */
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
 * Prints each rank's record, the TCP ports with listeners, and the response of each leader's endpoint to the request
 * for one token: `token NAME EXIT STATUS`, then the body in base64. Nothing connects to a rank's port, because the
 * kernel lists the listeners. All endpoints are queried in parallel, each with its own deadline, and only if a program
 * listens on the port. Nodes without placements need no extra process. RDMA starts are counted per boot session.
 *
 * Runs in the observation's private folder and uses its files. The watchdog's ALRM also stops its curls.
 */
const ranksScript = (ask: string, turns: string): string => `b=${pathWord(place.ours)} C="" D="" W=' '
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
    } | ${pathWord(tool.awk)} '${listeningPorts}' >ports
    while IFS= read -r x; do
      printf '%s\\n' "$x"
      case $x in ('|'*) W="$W\${x#?} " ;; esac
    done <ports
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
 * Ranks of placements, listeners, and one token from each endpoint. The deadline is slightly longer than the longest
 * token deadline of a run (20 s, src/drivers).
 */
export const placementRanks = recordProbe('placement-members', ranksScript(askEndpoint, turnFunctions), 22_000);

/** The same without a token, for checks that must not wait for a token or send requests to an incomplete mesh. */
export const unaskedRanks = recordProbe('placement-members', ranksScript(':', ''), 10_000);
