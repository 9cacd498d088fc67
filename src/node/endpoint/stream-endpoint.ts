import { pathWord, rootLine, shellCommand, tool } from '../paths/node-paths.ts';
import { quote } from '../quote.ts';

/** One request to an endpoint of its own node whose answer is wanted piece by piece. */
export interface StreamRequest {
  /** TCP port on 127.0.0.1 of the node. */
  readonly port: number;
  /** Path of the request, with its leading slash. */
  readonly path: string;
  /** Seconds until curl gives up. */
  readonly deadlineSeconds: number;
  readonly rootPrefix: string;
}

/**
 * The command that posts standard input to an endpoint, on its node and as the ssh user, and prints the answer as it
 * comes; its last line is the status and the seconds that curl counted from its first step to the last byte.
 */
export function streamCommand({ port, path, deadlineSeconds, rootPrefix }: StreamRequest): string {
  return shellCommand(`${rootLine(rootPrefix)}
export R LC_ALL=C
exec ${pathWord(tool.curl)} -q -s -S -N --noproxy '*' -m ${deadlineSeconds} -H 'Content-Type: application/json' \\
  --data-binary @- -w '\\n%{http_code} %{time_total}' ${quote(`http://127.0.0.1:${port}${path}`)}`);
}
