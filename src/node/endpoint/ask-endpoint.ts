import type { NodePath } from '../../model/probe.ts';
import { below, pathWord, place, rootLine, shellCommand, tool } from '../paths/node-paths.ts';
import { gatewaysFolder } from '../paths/own-paths.ts';
import { quote } from '../quote.ts';
import { type HttpAnswer, notAskedStatus } from './judge-answer.ts';

interface EndpointRequest {
  /** TCP port on the node's 127.0.0.1. */
  readonly port: number;
  /** Path with its leading slash and its query. */
  readonly path: string;
  /** Seconds until curl gives up; may have a fraction. */
  readonly deadlineSeconds: number;
  readonly rootPrefix: string;
}

/**
 * Posts standard input to an endpoint on the same node, as the ssh user, and prints the response as it arrives. The
 * last line contains the status and curl's total time in seconds.
 */
export function streamCommand({ port, path, deadlineSeconds, rootPrefix }: EndpointRequest): string {
  return shellCommand(`${rootLine(rootPrefix)}
export R LC_ALL=C
exec ${pathWord(tool.curl)} -q -s -S -N --noproxy '*' -m ${deadlineSeconds} -H 'Content-Type: application/json' \\
  --data-binary @- -w '\\n%{http_code} %{time_total}' ${quote(`http://127.0.0.1:${port}${path}`)}`);
}

interface TalkCommand extends EndpointRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
}

const methodWords: Readonly<Record<TalkCommand['method'], string>> = {
  GET: '',
  POST: " -H 'Content-Type: application/json' --data-binary @-",
  DELETE: ' -X DELETE',
};

/** Sends one request to an endpoint on the same node, as the ssh user; a POST's body comes from standard input. */
export function talkCommand({ method, port, path, deadlineSeconds, rootPrefix }: TalkCommand): string {
  return shellCommand(`${rootLine(rootPrefix)}
export R LC_ALL=C
exec ${pathWord(tool.curl)} -q -s -S --noproxy '*' -m ${deadlineSeconds}${methodWords[method]} \\
  -w '\\n%{http_code}' ${quote(`http://127.0.0.1:${port}${path}`)}`);
}

interface AskRequest extends EndpointRequest {
  readonly placement: string;
  /** A file on the node with the body; absent: standard input. */
  readonly body?: NodePath;
  /** Whether a second parallel request could crash the mesh. */
  readonly isOne: boolean;
  /** Whether curl also prints its time, for {@link parseTimedAnswer}. */
  readonly isTimed?: true;
}

/**
 * Posts JSON to an endpoint on the same node, as the ssh user, without the user's settings or proxies. If there is a
 * gateway, it queues the request. Otherwise, if a second parallel request could crash the mesh, the command waits until
 * no other request is in flight, for at most half its deadline. If its turn does not come, the status is
 * {@link notAskedStatus}.
 */
export function askCommand({
  placement,
  port,
  path,
  body,
  deadlineSeconds,
  rootPrefix,
  isOne,
  isTimed,
}: AskRequest): string {
  const shown = isTimed === true ? '%{time_total} %{http_code}' : '%{http_code}';
  const limitMs = Math.round(deadlineSeconds * 1_000);
  const turn = `
  w ${Math.floor(deadlineSeconds)} || {
    printf '\n%s%s' '${isTimed === true ? '0.0 ' : ''}' ${notAskedStatus}
    exit 0
  }
  trap '${pathWord(tool.rmdir)} ${turnLock} 2>/dev/null' EXIT
  trap 'exit 129' HUP TERM
  m=$((m - 500 * i))`;
  return shellCommand(`${rootLine(rootPrefix)}
export R LC_ALL=C
n=${quote(placement)} q=${port} m=${limitMs}
${turnFunctions}
if ! g </dev/null; then
  c=http://127.0.0.1:$q${isOne ? turn : ''}
fi
${pathWord(tool.curl)} -q -s -S --noproxy '*' -m "$((m / 1000)).$((m / 100 % 10))" -H 'Content-Type: application/json' -H 'meshwright-wait: ${limitMs / 2}' -H "@$u" \
  --data-binary ${body === undefined ? '@-' : `"@"${pathWord(body)}`} -w '\n${shown}' "$c"${quote(path)}`);
}

/** The endpoint's response; curl reports status 0 if there was none. `undefined` if curl itself failed. */
export function parseAskAnswer(stdout: string): HttpAnswer | undefined {
  const at = stdout.lastIndexOf('\n');
  const status = stdout.slice(at + 1);
  return at < 0 || !/^\d{3}$/.test(status) ? undefined : { status: Number(status), body: stdout.slice(0, at) };
}

export interface TimedAnswer extends HttpAnswer {
  readonly seconds: number;
}

export function parseTimedAnswer(stdout: string): TimedAnswer | undefined {
  const at = stdout.lastIndexOf('\n');
  const [, seconds = '', status = ''] = /^(\d{1,6}[.,]\d{1,9}) (\d{3})$/.exec(stdout.slice(at + 1)) ?? [];
  return at < 0 || status === ''
    ? undefined
    : { status: Number(status), body: stdout.slice(0, at), seconds: Number(seconds.replace(',', '.')) };
}

/**
 * Age in seconds at which a lock is stale. Its owner needs the lock only until the kernel shows the request. A lock
 * with a time in the future is older than a clock change.
 */
const staleSeconds = 60;

/**
 * An awk program that finds connections to a port of this Mac: those of a waiting client, or of a client that left
 * while the runtime is still working.
 */
const inFlight = `$1 ~ /^tcp/ && $4 ~ ("[.:]" p "$") { if ($NF == "ESTABLISHED") f = "busy"; else if ($NF == "CLOSE_WAIT" && !f) f = "gone" }
$1 == "exit" && $2 { f = "unseen" }
END { print f }`;

/** The folder that {@link turnFunctions} creates as the lock of port `$q`. */
export const turnLock = `${pathWord(below(place.temporary, 'meshwright-ask.'))}"$q"`;

/**
 * Functions of sh for requests to the endpoint of placement `n` at port `q` on the same node; two parallel requests can
 * crash a mesh (mlx-lm issue 1737). `g` is true if a gateway of this version is in front of it and queues our requests;
 * its address is in `c`, and the file with its secret, as a header, in `u`. `w TRIES` waits for a turn without a
 * gateway: until it gets a lock, because two clients may check simultaneously, and until the port has no connection.
 * Tries are half a second apart. If the turn does not come, `w` fails with the reason in `f` (`busy`, `gone` or
 * `unseen`); `i` counts the waits.
 */
export const turnFunctions = `g() {
  for y in ${pathWord(gatewaysFolder)}/*/keys/"$n"; do
    y=\${y%/keys/*}
    u=$y/own
    y=\${y##*/}
    case $y in (*[!0-9]*) continue ;; esac
    c=http://127.0.0.1:$y/gateway/ask/$n
    x=$(${pathWord(tool.curl)} -q -s --noproxy '*' -m 1 -H "@$u" "$c")
    case $x in ('' | *[!0-9]*) ;; (*) return 0 ;; esac
  done
  u=/dev/null
  return 1
}
w() {
  i=0
  while :; do
    f=busy
    if ${pathWord(tool.mkdir)} ${turnLock} 2>/dev/null || {
      x=$(${pathWord(tool.stat)} -f %m ${turnLock} 2>/dev/null) && y=$(${pathWord(tool.date)} +%s) && x=$((y-x)) && [ "\${x#-}" -gt ${staleSeconds} ]
    }; then
      f=$({
        ${pathWord(tool.netstat)} -n -f inet -p tcp 2>/dev/null
        printf 'exit %s\\n' "$?"
      } | ${pathWord(tool.awk)} -v p="$q" '${inFlight}')
      [ -n "$f" ] || return 0
      ${pathWord(tool.rmdir)} ${turnLock} 2>/dev/null
    fi
    [ "$i" -lt "$1" ] || return 1
    i=$((i + 1))
    ${pathWord(tool.sleep)} 0.5
  done
}`;
