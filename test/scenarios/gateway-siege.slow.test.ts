import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { GatewayLimits } from '../../src/gateway/gateway.ts';
import { until } from '../until.ts';
import { chatHead, startGatewayProcess } from './gateway-process.ts';
import { startUpstream, type TestUpstream, type UpstreamOptions } from './gateway-upstream.ts';
import { chat, rightKey, startTestGateway, type TestGateway, upstreamAt } from './test-gateway.ts';

const toEnd: (() => Promise<unknown> | undefined)[] = [];
afterEach(async () => {
  for (const end of toEnd.splice(0).toReversed()) await end();
});

interface Setup extends UpstreamOptions {
  readonly limits?: Partial<GatewayLimits>;
  readonly proxies?: readonly string[];
}

async function opened({
  limits,
  proxies,
  ...options
}: Setup): Promise<{ gateway: TestGateway; upstream: TestUpstream }> {
  const upstream = await startUpstream(options);
  const gateway = await startTestGateway([upstreamAt(upstream.port, { maxRequests: 1_000 })], limits, proxies);
  toEnd.push(upstream.close, gateway.end);
  return { gateway, upstream };
}

/** A connection that sends nothing by itself. */
interface Silent {
  readonly socket: Socket;
  readonly isOpen: () => boolean;
}

async function connected(port: number, localAddress = '127.0.0.1'): Promise<Silent> {
  const socket = connect({ port, host: '127.0.0.1', localAddress });
  let isOpen = true;
  socket
    .on('error', () => undefined)
    .on('close', () => {
      isOpen = false;
    });
  socket.resume();
  toEnd.push(async () => socket.destroy());
  await once(socket, 'connect');
  return { socket, isOpen: () => isOpen };
}

const body = JSON.stringify(chat());

const answerOf = async (gateway: TestGateway): Promise<string | null | undefined> =>
  (await gateway.client.chat.completions.create(chat())).choices[0]?.message.content;

describe("a gateway's connections", () => {
  it('are served despite 1,030 silent ones from the same address, 256 of which are kept', async () => {
    const { gateway } = await opened({});
    const all: Silent[] = [];
    for (let count = 0; count < 1_030; count += 1) all.push(await connected(gateway.running.port));
    expect(await answerOf(gateway)).toBe('Hello there');
    await until(() => all.filter((one) => one.isOpen()).length <= 256);
    // The newest ones are kept: a new client is about to send its request.
    expect(all.slice(-200).every((one) => one.isOpen())).toBe(true);
  });

  it.skipIf(process.platform === 'darwin')('are never closed for new ones while a request is in flight', async () => {
    const { gateway, upstream } = await opened({ isHeld: true, limits: { mostConnections: 5, mostPerAddress: 3 } });
    const busy = async (address: string): Promise<Silent> => {
      const one = await connected(gateway.running.port, address);
      one.socket.write(chatHead(body.length) + body);
      return one;
    };
    const first = [await busy('127.0.0.1'), await busy('127.0.0.1'), await busy('127.0.0.1')];
    await until(() => upstream.running() === 3);
    const tooMany = await busy('127.0.0.1');
    await until(() => !tooMany.isOpen());
    const others = [await busy('127.0.0.2'), await busy('127.0.0.3')];
    await until(() => upstream.running() === 5);
    const full = await busy('127.0.0.4');
    await until(() => !full.isOpen());
    expect([...first, ...others].every((one) => one.isOpen())).toBe(true);
    upstream.step();
    await until(() => upstream.running() === 0);
    // All clients have their answers and are silent now, so the next connection replaces the oldest one.
    const next = await busy('127.0.0.4');
    await until(() => upstream.asked.length === 6 && !first[0]?.isOpen());
    expect([next, ...others, ...first.slice(1)].every((one) => one.isOpen())).toBe(true);
  });

  it('stay open while any of several requests on them is unanswered', async () => {
    const { gateway, upstream } = await opened({ isHeld: true, limits: { mostPerAddress: 1 } });
    const both = await connected(gateway.running.port);
    both.socket.write(`${chatHead(body.length)}${body}${chatHead(body.length)}${body}`);
    await until(() => upstream.running() === 2);
    upstream.step(1);
    await until(() => upstream.running() === 1);
    const next = await connected(gateway.running.port);
    await until(() => !next.isOpen());
    upstream.step();
    await until(() => upstream.running() === 0);
    expect(both.isOpen()).toBe(true);
  });

  it('are limited only in total if they come from a proxy', async () => {
    const limits = { mostConnections: 5, mostPerAddress: 3 };
    const { gateway } = await opened({ limits, proxies: ['127.0.0.1'] });
    const all: Silent[] = [];
    for (let count = 0; count < 5; count += 1) all.push(await connected(gateway.running.port));
    await gateway.status();
    expect(all.filter((one) => one.isOpen())).toHaveLength(4);
  });
});

describe('large request bodies', () => {
  const large = (bytes: number): string => {
    const text = JSON.stringify({ ...chat(), padding: '' });
    return text.replace('"padding":""', `"padding":"${'x'.repeat(bytes - text.length)}"`);
  };
  const limits = { smallBodyBytes: 1_000, mostBodyBytes: 50_000, bodyRoomBytes: 100_000, bodyRoomMs: 60_000 };

  it('wait for memory in order of arrival without delaying small ones', async () => {
    const { gateway, upstream } = await opened({ limits });
    const text = large(50_000);
    const slow: Silent[] = [];
    for (let count = 0; count < 3; count += 1) {
      const one = await connected(gateway.running.port);
      one.socket.write(chatHead(text.length) + text.slice(0, -1));
      slow.push(one);
    }
    expect(await answerOf(gateway)).toBe('Hello there');
    slow[2]?.socket.write('}');
    expect(await answerOf(gateway)).toBe('Hello there');
    expect(upstream.asked).toHaveLength(2);
    // The first body frees its memory for the third, which is already complete.
    slow[0]?.socket.destroy();
    await until(() => upstream.asked.length === 3);
    slow[1]?.socket.write('}');
    await until(() => upstream.asked.length === 4);
    expect(upstream.asked.slice(2).map((one) => one.body['padding'])).toEqual([
      expect.stringMatching(/^x{40000}/),
      expect.stringMatching(/^x{40000}/),
    ]);
  });

  it('are refused with Retry-After if memory stays full', async () => {
    const { gateway, upstream } = await opened({ limits: { ...limits, bodyRoomMs: 50 } });
    const text = large(50_000);
    const slow = [await connected(gateway.running.port), await connected(gateway.running.port)];
    for (const { socket } of slow) socket.write(chatHead(text.length) + text.slice(0, -1));
    const post = (): Promise<Response> =>
      fetch(`${gateway.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${rightKey}`, 'content-type': 'application/json' },
        body: text,
      });
    const refused = await post();
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '10']);
    for (const { socket } of slow) socket.write('}');
    await until(() => upstream.asked.length === 2);
    expect((await post()).status).toBe(200);
  });

  it('never exceed their memory limit, even with 100 parallel bodies of 64 MiB', async () => {
    const upstream = await startUpstream();
    const gateway = await startGatewayProcess(upstreamAt(upstream.port));
    toEnd.push(upstream.close, async () => gateway.end());
    const { port } = gateway;
    const bytes = 67_108_864;
    const piece = Buffer.alloc(1_048_576, 'x');
    const start = Buffer.from('{"model":"tiny","messages":[],"padding":"');
    let sent = 0;
    for (let count = 0; count < 100; count += 1) {
      const { socket } = await connected(port);
      socket.write(chatHead(bytes));
      socket.write(start);
      // Each client sends all pieces but the last one, so that no body ends.
      let left = Math.floor((bytes - start.length) / piece.length) - 1;
      const more = (): void => {
        while (left > 0) {
          left -= 1;
          sent += piece.length;
          if (!socket.write(piece)) return;
        }
      };
      socket.on('drain', more);
      more();
    }
    await until(() => sent >= 3 * bytes && (gateway.peakBytes() ?? sent) > 3 * bytes);
    const answer = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${rightKey}`, 'content-type': 'application/json' },
      body,
    });
    expect(answer.status).toBe(200);
    const peak = gateway.peakBytes();
    if (peak !== undefined) expect(peak).toBeLessThan(512 * 1_048_576);
  });
});
