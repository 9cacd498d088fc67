import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { TinyShape } from '../../src/sim/doubles/tiny-gguf.ts';
import { createPortClaims } from '../../src/sim/hosts/link-table.ts';
import { eventually, longestWaitMs } from '../until.ts';
import type { LlamaProgram } from './llama-archive.ts';
import type { LlamaPackages } from './packages.ts';

/** A real program of llama.cpp that runs on this computer. */
export interface LocalLlama {
  readonly port: number;
  /** Standard output and error, in order of arrival. */
  readonly log: () => string;
  readonly stop: () => Promise<void>;
}

interface Started extends Pick<LocalLlama, 'log' | 'stop'> {
  readonly child: ChildProcess;
}

/** Starts a program through its own loader. @param words arguments of its command line */
function start(
  { folder, loader, backends }: LlamaPackages,
  program: LlamaProgram,
  words: readonly string[],
  env: Readonly<Record<string, string>>,
): Started {
  const libraries = `${join(folder, 'lib')}:${join(folder, 'lib/llama')}`;
  const child = spawn(
    join(folder, loader),
    ['--library-path', libraries, join(folder, 'programs', program), ...words],
    // After a crash, the program would start a debugger to print a trace.
    { cwd: join(folder, backends), env: { ...env, GGML_NO_BACKTRACE: '1' }, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let log = '';
  const hear = (chunk: Buffer): void => {
    log += chunk.toString('utf8');
  };
  child.stdout?.on('data', hear);
  child.stderr?.on('data', hear);
  const closed = once(child, 'close');
  const stop = async (): Promise<void> => {
    // A separate thread writes the log, so the log is complete only after an orderly exit.
    child.kill('SIGTERM');
    const patience = setTimeout(() => child.kill('SIGKILL'), longestWaitMs);
    await closed;
    clearTimeout(patience);
  };
  return { child, log: () => log, stop };
}

/** Waits until the condition is met. @throws Error if the program exits first or the wait is too long */
async function untilReady({ child, log }: Started, isReady: () => Promise<boolean>): Promise<void> {
  const hasExited = (): boolean => child.exitCode !== null || child.signalCode !== null;
  if ((await eventually(async () => (await isReady()) || hasExited())) && !hasExited()) return;
  throw new Error(`llama.cpp is not ready:\n${log()}`);
}

/** The options of a worker. */
export interface WorkerOptions {
  /** The folder of its tensor cache; no cache by default. */
  readonly cacheFolder?: string;
}

/** Starts a program on a port that no other test has until the program is stopped. */
async function onOwnPort(begin: (port: number) => Promise<Pick<LocalLlama, 'log' | 'stop'>>): Promise<LocalLlama> {
  const claims = createPortClaims();
  const port = await claims.take();
  const { log, stop } = await begin(port);
  return { port, log, stop: () => stop().then(claims.close) };
}

/** Starts a worker on loopback and waits until it listens. */
export const startWorker = (packages: LlamaPackages, options: WorkerOptions = {}): Promise<LocalLlama> =>
  onOwnPort((port) => startWorkerOn(port, packages, options));

async function startWorkerOn(port: number, packages: LlamaPackages, options: WorkerOptions): Promise<Started> {
  const cache = options.cacheFolder === undefined ? [] : ['-c'];
  const words = ['-H', '127.0.0.1', '-p', String(port), ...cache];
  const env = options.cacheFolder === undefined ? {} : { LLAMA_CACHE: options.cacheFolder };
  const worker = start(packages, 'ggml-rpc-server', words, env);
  await untilReady(worker, async () => worker.log().includes('transport      :'));
  return worker;
}

/**
 * Starts a server on loopback and waits until its model is loaded.
 * @param words arguments besides model, address and port
 */
export const startServer = (
  packages: LlamaPackages,
  model: string,
  words: readonly string[] = [],
): Promise<LocalLlama> => onOwnPort((port) => startServerOn(port, packages, model, words));

async function startServerOn(
  port: number,
  packages: LlamaPackages,
  model: string,
  words: readonly string[],
): Promise<Started> {
  const own = ['--model', model, '--host', '127.0.0.1', '--port', String(port), '--no-ui', '--fit', 'off'];
  const server = start(packages, 'llama-server', [...own, ...words], {});
  const isReady = async (): Promise<boolean> => {
    try {
      return (await fetch(`http://127.0.0.1:${port}/health`)).status === 200;
    } catch {
      return false;
    }
  };
  await untilReady(server, isReady);
  return server;
}

/** The body of a request with a reproducible answer. */
export const goldenRequest = (model: string, maxTokens = 16): string =>
  JSON.stringify({
    model,
    messages: [{ role: 'user', content: 'Tell me of the cable.' }],
    max_tokens: maxTokens,
    temperature: 0,
    seed: 1,
    cache_prompt: false,
  });

/** The text of an answer, with invalid bytes made visible. */
export function textIn(answer: string): string {
  const value: unknown = JSON.parse(answer);
  const text = Object(value).choices?.[0]?.message?.content;
  if (typeof text !== 'string' || text === '') throw new Error(`no text in ${answer}`);
  return text;
}

/** The answer of a single process. */
export async function soloAnswer(packages: LlamaPackages, model: string, words: readonly string[]): Promise<string> {
  const server = await startServer(packages, model, words);
  try {
    const answer = await fetch(`http://127.0.0.1:${server.port}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: goldenRequest('tiny'),
    });
    return textIn(await answer.text());
  } finally {
    await server.stop();
  }
}

/** A model in which some tensors are large enough for a worker's cache: more than 10 MiB. */
export const cachedShape: TinyShape = {
  layers: 2,
  hidden: 512,
  heads: 8,
  kvHeads: 4,
  intermediate: 10_752,
  context: 512,
};

/** The answer of a server with all layers on these workers. The server reports good health before the request. */
export async function meshAnswer(packages: LlamaPackages, model: string, ports: readonly number[]): Promise<string> {
  const rpc = ports.map((port) => `127.0.0.1:${port}`).join(',');
  return soloAnswer(packages, model, ['--ctx-size', '512', '--parallel', '1', '--rpc', rpc, '--n-gpu-layers', '9999']);
}
