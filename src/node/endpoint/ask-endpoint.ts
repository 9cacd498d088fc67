import type { NodePath } from '../../model/probe.ts';
import { below, pathWord, place, rootLine, shellCommand, tool } from '../paths/node-paths.ts';
import { doormenFolder } from '../paths/own-paths.ts';
import { quote } from '../quote.ts';
import { type HttpAnswer, notAskedStatus } from './judge-answer.ts';

/** One request to an endpoint of its own node. */
interface EndpointRequest {
  /** TCP port on 127.0.0.1 of the node. */
  readonly port: number;
  /** Path of the request, with its leading slash and its query. */
  readonly path: string;
  /** Seconds until curl gives up; may have a fraction. */
  readonly deadlineSeconds: number;
  readonly rootPrefix: string;
}

/**
 * The command that posts standard input to an endpoint, on its node and as the ssh user, and prints the answer as it
 * comes; its last line is the status and the seconds that curl counted from its first step to the last byte.
 */
export function streamCommand({ port, path, deadlineSeconds, rootPrefix }: EndpointRequest): string {
  return shellCommand(`${rootLine(rootPrefix)}
export R LC_ALL=C
exec ${pathWord(tool.curl)} -q -s -S -N --noproxy '*' -m ${deadlineSeconds} -H 'Content-Type: application/json' \\
  --data-binary @- -w '\\n%{http_code} %{time_total}' ${quote(`http://127.0.0.1:${port}${path}`)}`);
}

/** One request of a dialogue with an endpoint of its own node. */
interface TalkCommand extends EndpointRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
}

const methodWords: Readonly<Record<TalkCommand['method'], string>> = {
  GET: '',
  POST: " -H 'Content-Type: application/json' --data-binary @-",
  DELETE: ' -X DELETE',
};

/**
 * The command that makes one request on the node of its endpoint, as the ssh user; the body of a POST comes on standard
 * input. `parseAskAnswer` reads what it prints.
 */
export function talkCommand({ method, port, path, deadlineSeconds, rootPrefix }: TalkCommand): string {
  return shellCommand(`${rootLine(rootPrefix)}
export R LC_ALL=C
exec ${pathWord(tool.curl)} -q -s -S --noproxy '*' -m ${deadlineSeconds}${methodWords[method]} \\
  -w '\\n%{http_code}' ${quote(`http://127.0.0.1:${port}${path}`)}`);
}

/** A request that takes its turn with those of others. */
interface AskRequest extends EndpointRequest {
  readonly placement: string;
  /** A file of the node that is the body; without it the body is what comes on standard input. */
  readonly body?: NodePath;
  /** Whether a second request at the same time could end the mesh. */
  readonly isOne: boolean;
  /** Whether curl also says how long it took, for {@link parseTimedAnswer}. */
  readonly isTimed?: true;
}

/**
 * The command that posts JSON to an endpoint, on its node and as the ssh user; nothing of the user's own settings or
 * proxies is used. By its gateway where it has one, so that it takes its turn there; else, where a second request could
 * end the mesh, it waits until there is none, for at most half of its time. Where its turn does not come the status is
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
  const told = isTimed === true ? '%{time_total} %{http_code}' : '%{http_code}';
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
${pathWord(tool.curl)} -q -s -S --noproxy '*' -m "$((m / 1000)).$((m / 100 % 10))" -H 'Content-Type: application/json' -H 'meshwright-wait: ${limitMs / 2}' \
  --data-binary ${body === undefined ? '@-' : `"@"${pathWord(body)}`} -w '\n${told}' "$c"${quote(path)}`);
}

/** What the endpoint answered; status 0 when it gave no answer, as curl says it. `undefined` when curl itself failed. */
export function parseAskAnswer(stdout: string): HttpAnswer | undefined {
  const at = stdout.lastIndexOf('\n');
  const status = stdout.slice(at + 1);
  return at < 0 || !/^\d{3}$/.test(status) ? undefined : { status: Number(status), body: stdout.slice(0, at) };
}

/** An answer, and how long it took on the node itself. */
export interface TimedAnswer extends HttpAnswer {
  readonly seconds: number;
}

/** The same of a request that was timed. */
export function parseTimedAnswer(stdout: string): TimedAnswer | undefined {
  const at = stdout.lastIndexOf('\n');
  const [, seconds = '', status = ''] = /^(\d{1,6}[.,]\d{1,9}) (\d{3})$/.exec(stdout.slice(at + 1)) ?? [];
  return at < 0 || status === ''
    ? undefined
    : { status: Number(status), body: stdout.slice(0, at), seconds: Number(seconds.replace(',', '.')) };
}

/**
 * A lock so old belongs to nobody: who asks holds it no longer than that before the kernel shows the request. One from the
 * future was left before the clock was set back.
 */
const staleSeconds = 60;

/** Connections to a port of this Mac: of a client that waits, or of one that has left while the runtime works on. */
const inFlight = `$1 ~ /^tcp/ && $4 ~ ("[.:]" p "$") { if ($NF == "ESTABLISHED") f = "busy"; else if ($NF == "CLOSE_WAIT" && !f) f = "gone" }
$1 == "exit" && $2 { f = "unseen" }
END { print f }`;

/** The folder that {@link turnFunctions} makes as the lock of the port `$q`. */
export const turnLock = `${pathWord(below(place.temporary, 'meshwright-ask.'))}"$q"`;

/**
 * Functions of sh for who asks an endpoint on its own node, for the placement `n` at its port `q`; two requests at once can
 * end a mesh (mlx-lm issue 1737). `g` is true where a gateway of this version stands before it, by which our requests take
 * their turn: its address is left in `c`. `w TRIES` takes the turn where there is none: a lock, since two may look at once,
 * and no connection to the port; each further try is half a second later. It is false where the turn did not come, with
 * the reason in `f` (`busy`, `gone` or `unseen`), and leaves the count of its waits in `i`.
 */
export const turnFunctions = `g() {
  for y in ${pathWord(doormenFolder)}/*/keys/"$n"; do
    y=\${y%/keys/*}
    y=\${y##*/}
    case $y in (*[!0-9]*) continue ;; esac
    c=http://127.0.0.1:$y/doorman/ask/$n
    x=$(${pathWord(tool.curl)} -q -s --noproxy '*' -m 1 "$c")
    case $x in ('' | *[!0-9]*) ;; (*) return 0 ;; esac
  done
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
