import type { Socket } from 'node:net';
import type { ToolAnswer } from '../fleet-model.ts';
import { openSocket } from './control.ts';

/** A request from a tool on a node. */
export interface AskRequest {
  /** `<run id>.<node>.<boot>` of the process; empty if it lost its environment. */
  readonly mark: string;
  readonly isRoot: boolean;
  /** `/usr/bin/pmset`, or `note` for an event to record. */
  readonly tool: string;
  readonly args: readonly string[];
}

const maxRequestBytes = 1_048_576;

/** Parses a request; undefined while bytes are missing, an error if the request is invalid. */
function parseRequest(received: Buffer): AskRequest | undefined | Error {
  const head = received.subarray(0, 12).indexOf('\n');
  if (head < 0) return received.length >= 12 ? new Error('no length') : undefined;
  const digits = received.subarray(0, head).toString('latin1');
  const length = Number(digits);
  if (!/^\d+$/.test(digits) || length > maxRequestBytes) return new Error('no length, or too long');
  if (received.length < head + 1 + length) return undefined;
  const words = received.toString('utf8', head + 1, head + 1 + length).split('\0');
  // The third word is the process's working folder, which affects no answer.
  const [mark = '', sudo = '', , tool = '', ...args] = words;
  return { mark, isRoot: sudo !== '', tool, args };
}

function reply(client: Socket, { stdout, stderr, exitCode }: ToolAnswer): void {
  const [out, err] = [Buffer.from(stdout), Buffer.from(stderr)];
  client.end(Buffer.concat([Buffer.from(`${exitCode} ${out.length} ${err.length}\n`), out, err]));
}

function listenTo(client: Socket, answer: (request: AskRequest) => Promise<ToolAnswer>): void {
  let received = Buffer.alloc(0);
  let isAsked = false;
  client.on('data', (chunk: Buffer) => {
    if (isAsked) return;
    received = Buffer.concat([received, chunk]);
    const request = parseRequest(received);
    if (request === undefined) return;
    isAsked = true;
    if (request instanceof Error) {
      client.destroy();
      return;
    }
    answer(request).then(
      (given) => reply(client, given),
      (error: unknown) => reply(client, { stdout: '', stderr: `simulated: ${String(error)}\n`, exitCode: 70 }),
    );
  });
}

/**
 * Listens for requests from the tools of all nodes. A request is answered after all its effects are written, so that a
 * script's next command sees them.
 *
 * @throws the system's error if the socket cannot be created
 */
export const serveAsks = (path: string, answer: (request: AskRequest) => Promise<ToolAnswer>) =>
  openSocket(path, { allowHalfOpen: true }, (client) => listenTo(client, answer));
