import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chat, rightKey, upstreamAt } from '../scenarios/doorman-door.ts';
import { startUpstream } from '../scenarios/doorman-upstream.ts';
import { hashOf } from '../unit/doorman/hash-of.ts';

/** How long a client of a gateway waits for a whole answer, the longest of some, while others do what is said. */
export interface GatewayTimes {
  readonly usualMs: number;
  /** 1,030 connections of the same address say nothing. */
  readonly silentMs: number;
  /** 100 clients send 64 MiB each, and never the last byte. */
  readonly uploadsMs: number;
  /** Others send 64 MiB of JSON that takes longest to read. */
  readonly longJsonMs: number;
  /** The most memory that the gateway had; absent where the system does not say. */
  readonly peakBytes?: number;
}

const requests = 25;
const silent = 1_030;
const uploads = 100;
const bodyBytes = 67_108_864;
const program = fileURLToPath(new URL('../../dist/doorman/doorman.mjs', import.meta.url));

const head = (length: number): string =>
  `POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${rightKey}\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;

interface Gateway {
  readonly port: number;
  readonly process: ChildProcess;
}

async function startGateway(folder: string, upstreamPort: number): Promise<Gateway> {
  const [keysFolder, closedFolder, countsFile] = ['keys', 'closed', 'counts'].map((name) => join(folder, name));
  mkdirSync(join(folder, 'keys'));
  writeFileSync(join(folder, 'keys', 'chat'), JSON.stringify({ keys: [hashOf(rightKey)] }));
  const config = join(folder, 'config.json');
  const upstreams = [upstreamAt(upstreamPort, { maxRequests: 200 })];
  writeFileSync(config, JSON.stringify({ upstreams, keysFolder, closedFolder, countsFile }));
  const process_ = spawn(process.execPath, [program, config, '127.0.0.1:0'], { stdio: ['ignore', 'ignore', 'pipe'] });
  const [said] = await once(process_.stderr, 'data');
  return { port: Number(/:(\d+)\n/.exec(String(said))?.[1]), process: process_ };
}

/** The longest of some answers, one after another. */
async function longest(port: number): Promise<number> {
  const times: number[] = [];
  for (let count = 0; count < requests; count += 1) {
    const begun = performance.now();
    const answer = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${rightKey}`, 'content-type': 'application/json', connection: 'close' },
      body: JSON.stringify(chat()),
    });
    if (answer.status !== 200) throw new Error(`the gateway answered ${answer.status}`);
    await answer.arrayBuffer();
    times.push(performance.now() - begun);
  }
  return Math.max(...times);
}

async function opened(port: number, bytes?: Buffer): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1' });
  socket.on('error', () => undefined).resume();
  await once(socket, 'connect');
  if (bytes !== undefined) socket.write(bytes);
  return socket;
}

/** The times while so many others are connected and send these bytes. */
async function beside(port: number, count: number, bytes?: Buffer): Promise<number> {
  const sockets: Socket[] = [];
  try {
    for (let at = 0; at < count; at += 1) sockets.push(await opened(port, bytes));
    return await longest(port);
  } finally {
    for (const socket of sockets) socket.destroy();
  }
}

function peakOf({ pid }: ChildProcess): number | undefined {
  if (process.platform !== 'linux') return undefined;
  const found = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return found === undefined ? undefined : Number(found) * 1_024;
}

/** Measures a gateway in a process of its own, before a runtime that answers at once. */
export async function measureGateway(): Promise<GatewayTimes> {
  const folder = mkdtempSync(join(tmpdir(), 'meshwright-bench-'));
  const upstream = await startUpstream();
  const gateway = await startGateway(folder, upstream.port);
  try {
    await longest(gateway.port);
    const usualMs = await longest(gateway.port);
    const silentMs = await beside(gateway.port, silent);
    const start = Buffer.from(`${head(bodyBytes)}{"model":"tiny","padding":"`);
    const uploadsMs = await beside(gateway.port, uploads, Buffer.concat([start, Buffer.alloc(bodyBytes / 2, 'x')]));
    const list = Buffer.alloc(bodyBytes - 30, 'null,');
    const whole = Buffer.concat([
      Buffer.from('{"model":"none","list":['),
      list.subarray(0, list.length - (list.length % 5)),
      Buffer.from('1]}'),
    ]);
    const longJsonMs = await beside(gateway.port, 3, Buffer.concat([Buffer.from(head(whole.length)), whole]));
    const peakBytes = peakOf(gateway.process);
    return { usualMs, silentMs, uploadsMs, longJsonMs, ...(peakBytes === undefined ? {} : { peakBytes }) };
  } finally {
    gateway.process.kill('SIGKILL');
    await upstream.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
