import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { GatewayLimits } from '../../src/gateway/gateway.ts';
import { hashOf } from '../unit/gateway/hash-of.ts';
import { until } from '../until.ts';
import { startUpstream, type UpstreamOptions } from './gateway-upstream.ts';
import { chat, rightKey, startTestGateway, upstreamAt } from './test-gateway.ts';

const toEnd: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of toEnd.splice(0).toReversed()) await end();
});

/** A gateway in front of `chat`, which is held or long, and of `code`, which has a key of its own. */
async function opened(options: UpstreamOptions, limits: Partial<GatewayLimits> = {}) {
  const [chats, codes] = [await startUpstream(options), await startUpstream()];
  const gateway = await startTestGateway(
    [
      upstreamAt(chats.port, { maxRequests: 4 }),
      upstreamAt(codes.port, { placement: 'code', servedName: 'code', maxRequests: 1 }),
    ],
    limits,
  );
  toEnd.push(chats.close, codes.close, gateway.end);
  gateway.setKeys({ code: [hashOf('key-of-code-0123456789')] });
  const send = async (key: string, ...lines: readonly string[]): Promise<Socket> => {
    const socket = connect({ port: gateway.running.port, host: '127.0.0.1' });
    socket.on('error', () => undefined);
    toEnd.push(() => socket.destroy());
    await once(socket, 'connect');
    const head = ['POST /v1/chat/completions HTTP/1.1', 'host: gateway', 'content-type: application/json'];
    socket.write([...head, `authorization: Bearer ${key}`, ...lines].join('\r\n'));
    return socket;
  };
  return { gateway, chats, codes, send };
}

const padded = (model: string, bytes: number): string => JSON.stringify({ ...chat(model), padding: 'x'.repeat(bytes) });

describe('a client of another placement', () => {
  const ofCode = async ({ gateway }: Awaited<ReturnType<typeof opened>>) => {
    const answer = await gateway
      .clientWith('key-of-code-0123456789')
      .chat.completions.create({ ...chat('code'), user: 'x'.repeat(70_000) });
    return answer.choices[0]?.message.content;
  };

  it('gets its response while four requests with chunked bodies wait for theirs', async () => {
    const at = await opened({ isHeld: true });
    const text = padded('tiny', 70_000);
    for (let count = 0; count < 4; count += 1) {
      await at.send(rightKey, 'transfer-encoding: chunked', '', `${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`);
    }
    await until(() => at.chats.running() === 4);
    expect(await ofCode(at)).toBe('Hello there');
    expect(at.chats.running()).toBe(4);
  });

  it('gets its response while eight large uploads stall', async () => {
    const limits = { mostBodyBytes: 600_000, bodyRoomBytes: 2_400_000, bodyStepBytes: 20_000 };
    const at = await opened({}, limits);
    for (let count = 0; count < 8; count += 1) {
      const upload = await at.send(rightKey, 'content-length: 600000', '', padded('tiny', 500_000).slice(0, 400_000));
      upload.resume();
    }
    expect(await ofCode(at)).toBe('Hello there');
    expect(at.chats.asked).toEqual([]);
  });
});

describe('a client that reads nothing', () => {
  it('is disconnected and loses its turn', async () => {
    const words = Array.from({ length: 400 }, () => 'x'.repeat(100_000));
    const at = await opened({ words }, { unreadMs: 50 });
    const text = JSON.stringify({ ...chat('tiny'), stream: true });
    for (let count = 0; count < 4; count += 1) {
      const paused = await at.send(rightKey, `content-length: ${text.length}`, '', text);
      paused.pause();
    }
    await until(() => at.chats.brokenOff() === 4);
    const placement = async () => (await at.gateway.status()).placements.find((one) => one.placement === 'chat');
    await until(async () => (await placement())?.running === 0);
  });
});
