import type { NodePath } from '../../model/node-path.ts';
import { pathWord, rootLine, shellCommand, tool } from '../paths/node-paths.ts';
import { quote } from '../quote.ts';
import type { HttpAnswer } from './judge-token.ts';
import { notAskedStatus, turnFunctions, turnLock } from './turn-at-endpoint.ts';

/** One request to an endpoint of its own node. */
export interface AskRequest {
  readonly placement: string;
  /** TCP port on 127.0.0.1 of the node. */
  readonly port: number;
  /** Path of the request, with its leading slash. */
  readonly path: string;
  /** A file of the node that is the body; without it the body is what comes on standard input. */
  readonly body?: NodePath;
  /** Seconds until curl gives up; may have a fraction. */
  readonly deadlineSeconds: number;
  readonly rootPrefix: string;
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
