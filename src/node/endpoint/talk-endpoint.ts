import { pathWord, rootLine, shellCommand, tool } from '../paths/node-paths.ts';
import { quote } from '../quote.ts';

/** One request of a dialogue with an endpoint of its own node. */
export interface TalkCommand {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** TCP port on 127.0.0.1 of the node. */
  readonly port: number;
  /** With its leading slash and its query. */
  readonly path: string;
  /** Seconds until curl gives up; may have a fraction. */
  readonly deadlineSeconds: number;
  readonly rootPrefix: string;
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
