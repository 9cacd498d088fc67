import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { chatHead, keyTo, startGatewayProcess } from '../scenarios/gateway-process.ts';
import { startUpstream } from '../scenarios/gateway-upstream.ts';
import { chat, upstreamAt } from '../scenarios/test-gateway.ts';
import { sendAsNeighbors, startBadRuntime } from './bad-neighbors.ts';

/** The longest wait of a client for a whole answer of a gateway, under each load. */
export interface GatewayTimes {
  readonly usualMs: number;
  /** 1,030 connections from one address send nothing. */
  readonly silentMs: number;
  /** 100 clients send 64 MiB each, but never the last byte. */
  readonly uploadsMs: number;
  /** Three clients send 64 MiB of the JSON that takes longest to parse. */
  readonly longJsonMs: number;
  /** Peak memory of the gateway; absent if the system does not report it. */
  readonly peakBytes?: number;
  readonly neighbors: NeighborTimes;
}

/** The longest wait of a client with a prompt of 70 KB, alone and next to all bad clients of another placement. */
export interface NeighborTimes {
  readonly aloneMs: number;
  readonly besideMs: number;
  /** Peak memory of the gateway with these clients; absent if the system does not report it. */
  readonly peakBytes?: number;
}

const leastRequests = 25;
/** Long enough for the bytes of the others to be read. */
const leastMs = 3_000;
const silent = 1_030;
const uploads = 100;
const bodyBytes = 67_108_864;

/** The longest of several answers, one after another. */
async function longest(port: number, placement = 'chat', more: object = {}): Promise<number> {
  const times: number[] = [];
  const start = performance.now();
  while (times.length < leastRequests || performance.now() < start + leastMs) {
    const begun = performance.now();
    const answer = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${keyTo(placement)}`, 'content-type': 'application/json', connection: 'close' },
      body: JSON.stringify({ ...chat(), ...more }),
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

/** The times while this many other clients are connected and send these bytes. */
async function beside(port: number, count: number, bytes?: Buffer): Promise<number> {
  const sockets: Socket[] = [];
  try {
    for (let at = 0; at < count; at += 1) sockets.push(await opened(port, bytes));
    return await longest(port);
  } finally {
    for (const socket of sockets) socket.destroy();
  }
}

/** Measures a gateway in a separate process, in front of a runtime with bad clients and of one with a good client. */
async function measureNeighbors(): Promise<NeighborTimes> {
  const [bad, good] = [await startBadRuntime(), await startUpstream()];
  const { placement, servedName } = { placement: 'code', servedName: 'code' };
  const gateway = await startGatewayProcess(
    upstreamAt(bad.port, { maxRequests: 200 }),
    upstreamAt(good.port, { placement, servedName }),
  );
  const ofGood = (): Promise<number> =>
    longest(gateway.port, placement, { model: servedName, user: 'x'.repeat(70_000) });
  try {
    await ofGood();
    const aloneMs = await ofGood();
    const leave = await sendAsNeighbors(gateway.port, bad);
    const besideMs = await ofGood();
    if (!bad.isBusy()) throw new Error('the gateway has ended the requests of the bad clients');
    const peakBytes = gateway.peakBytes();
    leave();
    return { aloneMs, besideMs, ...(peakBytes === undefined ? {} : { peakBytes }) };
  } finally {
    gateway.end();
    await Promise.all([bad.close(), good.close()]);
  }
}

/** Measures a gateway in a separate process, in front of a runtime that answers immediately. */
export async function measureGateway(): Promise<GatewayTimes> {
  const upstream = await startUpstream();
  const gateway = await startGatewayProcess(upstreamAt(upstream.port, { maxRequests: 200 }));
  const { port } = gateway;
  try {
    await longest(port);
    const usualMs = await longest(port);
    const silentMs = await beside(port, silent);
    const start = Buffer.from(`${chatHead(bodyBytes)}{"model":"tiny","padding":"`);
    const uploadsMs = await beside(port, uploads, Buffer.concat([start, Buffer.alloc(bodyBytes / 2, 'x')]));
    const words = 'null,'.repeat(Math.floor((bodyBytes - 100) / 5));
    const body = Buffer.from(`{"model":"none","list":[${words}1]}`);
    const longJsonMs = await beside(port, 3, Buffer.concat([Buffer.from(chatHead(body.length)), body]));
    const peakBytes = gateway.peakBytes();
    const peak = peakBytes === undefined ? {} : { peakBytes };
    return { usualMs, silentMs, uploadsMs, longJsonMs, ...peak, neighbors: await measureNeighbors() };
  } finally {
    gateway.end();
    await upstream.close();
  }
}
