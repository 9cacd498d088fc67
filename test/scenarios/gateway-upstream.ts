import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { listening } from '../rack/listening.ts';

/** A request that a runtime of the tests received. */
export interface AskedOnce {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Readonly<Record<string, unknown>>;
}

/** A small server that answers like a runtime and counts its requests. */
export interface TestUpstream {
  readonly port: number;
  readonly asked: readonly AskedOnce[];
  /** The number of answers in progress, its maximum so far, and the number of aborted answers. */
  readonly running: () => number;
  readonly mostAtOnce: () => number;
  readonly brokenOff: () => number;
  /** Pieces written, over all answers. */
  readonly written: () => number;
  /** Lets waiting answers write this many pieces in total; without a number, all of them. */
  readonly step: (pieces?: number) => void;
  readonly close: () => Promise<void>;
}

export interface UpstreamOptions {
  /** The words of each answer. */
  readonly words?: readonly string[];
  /** Each piece waits for {@link TestUpstream.step}. */
  readonly isHeld?: boolean;
  /** Cuts the connection after this many pieces. */
  readonly breaksAfter?: number;
  readonly status?: number;
  /** Ends a stream with its usage, as `stream_options.include_usage` asks for. */
  readonly usage?: number;
}

interface State {
  readonly options: UpstreamOptions;
  readonly asked: AskedOnce[];
  readonly waiting: (() => void)[];
  running: number;
  most: number;
  broken: number;
  written: number;
  isFree: boolean;
  credit: number;
}

/** Starts an upstream on loopback. */
export async function startUpstream(options: UpstreamOptions = {}): Promise<TestUpstream> {
  const isFree = options.isHeld !== true;
  const state: State = {
    options,
    asked: [],
    waiting: [],
    running: 0,
    most: 0,
    broken: 0,
    written: 0,
    isFree,
    credit: 0,
  };
  const server = createServer((request, response) => void answer(state, request, response));
  const port = await listening(server);
  return {
    port,
    asked: state.asked,
    running: () => state.running,
    mostAtOnce: () => state.most,
    brokenOff: () => state.broken,
    written: () => state.written,
    step: (pieces) => {
      state.isFree = pieces === undefined;
      state.credit = pieces ?? 0;
      release(state);
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function release(state: State): void {
  while (state.waiting.length > 0 && (state.isFree || state.credit > 0)) {
    state.credit -= 1;
    state.waiting.shift()?.();
  }
}

function mayWrite(state: State): Promise<void> {
  return new Promise((resolve) => {
    state.waiting.push(resolve);
    release(state);
  });
}

async function answer(state: State, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = JSON.parse(Buffer.concat(chunks).toString('utf8'));
  state.asked.push({ path: request.url ?? '', headers: request.headers, body });
  state.running += 1;
  state.most = Math.max(state.most, state.running);
  response.on('close', () => {
    state.running -= 1;
    if (!response.writableFinished) state.broken += 1;
  });
  const { words = ['Hel', 'lo', ' there'], status = 200 } = state.options;
  if (status !== 200) {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(
      JSON.stringify({ error: { message: 'the runtime declines', type: 'server_error', code: 'declined' } }),
    );
    return;
  }
  if (body.stream === true) return stream(state, words, response);
  await mayWrite(state);
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(wholeAnswer(words.join(''), words.length)));
}

const wholeAnswer = (content: string, tokens: number): unknown => ({
  id: 'one',
  object: 'chat.completion',
  created: 1,
  model: 'inner',
  choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 3, completion_tokens: tokens, total_tokens: 3 + tokens },
});

const event = (fields: object): string =>
  `data: ${JSON.stringify({ id: 'one', object: 'chat.completion.chunk', created: 1, model: 'inner', ...fields })}\n\n`;

async function stream(state: State, words: readonly string[], response: ServerResponse): Promise<void> {
  const { breaksAfter, usage } = state.options;
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(event({ choices: [{ index: 0, delta: { role: 'assistant', content: '' } }] }));
  for (const [at, content] of words.entries()) {
    await mayWrite(state);
    if (response.destroyed) return;
    if (at === breaksAfter) {
      response.destroy();
      return;
    }
    const isTaken = response.write(event({ choices: [{ index: 0, delta: { content } }] }));
    state.written += 1;
    if (!isTaken) await drained(response);
  }
  response.write(event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }));
  if (usage !== undefined)
    response.write(event({ choices: [], usage: { prompt_tokens: 3, completion_tokens: usage } }));
  response.end('data: [DONE]\n\n');
}

/** Resolves when the client reads more or has disconnected. */
export function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      response.off('drain', end).off('close', end);
      resolve();
    };
    response.on('drain', end).on('close', end);
  });
}
