import { spawn } from 'node:child_process';
import type { LookupAddress } from 'node:dns';
import { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import type { Settle, SpareLookUp } from './look-up-name.ts';

/**
 * What the child runs: one name per line in, one line of JSON per answer out. When its parent is gone it ends itself
 * by KILL, since an ordinary exit would wait for the system's answers.
 */
const program = `const { lookup } = require('node:dns');
const lines = require('node:readline').createInterface({ input: process.stdin });
const say = (answer) => process.stdout.write(JSON.stringify(answer) + '\\n');
lines.on('line', (host) =>
  lookup(host, { all: true }, (error, addresses) =>
    say(error ? { host, code: String(error.code), message: error.message } : { host, addresses })));
lines.on('close', () => process.kill(process.pid, 'SIGKILL'));`;

/** Node looks up half as many names at once as its pool has threads; 1,024 is the most that it makes. */
const threads = 1_024;

type Answer =
  | { readonly host: string; readonly addresses: readonly LookupAddress[] }
  | { readonly host: string; readonly code: string; readonly message: string };

/** Starts one child process that looks up 512 names at once. It keeps nobody waiting: this process may end before it. */
export function openSpareLookUp(): SpareLookUp {
  const { NODE_OPTIONS: _options, ...env } = process.env;
  const child = spawn(process.execPath, ['-e', program], {
    env: { ...env, UV_THREADPOOL_SIZE: String(threads) },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  child.unref();
  for (const stream of [child.stdin, child.stdout]) if (stream instanceof Socket) stream.unref();
  const waiting = new Map<string, Settle>();
  let isGone = false;
  const lose = (): void => {
    isGone = true;
    const lost = [...waiting.values()];
    waiting.clear();
    for (const one of lost) one.lost();
  };
  child.on('error', lose).on('close', lose);
  child.stdin.on('error', () => undefined);
  createInterface({ input: child.stdout }).on('line', (line) => {
    const answer = JSON.parse(line) as Answer;
    const settle = waiting.get(answer.host);
    waiting.delete(answer.host);
    if ('addresses' in answer) settle?.found(answer.addresses);
    else settle?.failed(Object.assign(new Error(answer.message), { code: answer.code }));
  });
  return {
    ask: (host, settle) => {
      if (isGone) return queueMicrotask(settle.lost);
      waiting.set(host, settle);
      child.stdin.write(`${host}\n`);
    },
    close: () => {
      waiting.clear();
      child.kill('SIGKILL');
    },
  };
}
