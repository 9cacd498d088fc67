import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import '../property-seed.ts';
import { runs } from '../runs.ts';
import { expectCutsToFail, expectSameAnswers, type Replay, received, startReplay } from './replay.ts';
import { chat, rightKey } from './test-gateway.ts';

/** Answers of mlx_lm.server 0.32.2, byte for byte but for the names of the system. */
const recorded = (name: string): Buffer =>
  readFileSync(new URL(`../cases/recorded/mlx-0.32.2/${name}.http`, import.meta.url));
const stream = recorded('stream');
const recordings = { stream, whole: recorded('whole'), error: recorded('error') };

let replay: Replay;
beforeAll(async () => {
  replay = await startReplay();
});
afterAll(() => replay.end());

describe("a runtime's answer that ends too early", () => {
  it('is an error for the client and is counted as a failure, wherever and however it ends', () =>
    expectCutsToFail(replay, recordings, runs(200)));

  it("resets an HTTP/1.0 client's connection, because a normal close would look like the end", async () => {
    const { next, gateway } = replay;
    Object.assign(next, { answer: stream.subarray(0, -20), isReset: false });
    const ended = await new Promise<string>((resolve) => {
      const body = JSON.stringify({ ...chat(), stream: true });
      const head = `POST /v1/chat/completions HTTP/1.0\r\nauthorization: Bearer ${rightKey}\r\ncontent-type: application/json`;
      const socket = connect(gateway.running.port, '127.0.0.1', () =>
        socket.write(`${head}\r\ncontent-length: ${body.length}\r\n\r\n${body}`),
      );
      socket
        .on('error', (problem) => resolve('code' in problem ? String(problem.code) : ''))
        .on('end', () => resolve('ended'));
      socket.resume();
    });
    expect(ended).toBe('ECONNRESET');
  });
});

describe("a runtime's error", () => {
  const answered = async (answer: Buffer | string) => {
    const { next, gateway } = replay;
    Object.assign(next, { answer: Buffer.from(answer), isReset: false });
    return gateway.client.chat.completions.create(chat()).then(
      () => undefined,
      ({ status, error }: { status: number; error: unknown }) => ({ status, error }),
    );
  };

  it('reaches the client with its reason, and is never reported as an unknown model', async () => {
    const message = 'Cannot apply chat template to an empty conversation. Provide at least one message.';
    const type = 'invalid_request_error';
    expect(await answered(recorded('refusal'))).toMatchObject({
      status: 400,
      error: { message, type, param: null, code: null },
    });
    expect(await answered(recorded('error'))).toMatchObject({
      status: 400,
      error: { message: 'max_tokens must be at least 1', type },
    });
    const own = '{"error":{"message":"no","type":"t","code":7}}';
    for (const [status, body, message] of [
      [500, '{"detail":"it broke"}', 'it broke'],
      [404, 'Not Found', 'Not Found'],
      [501, '', 'The runtime returned 501.'],
      [429, own, 'no'],
      [400, 'x'.repeat(70_000), 'x'.repeat(2_000)],
    ] as const) {
      const seen = await answered(`HTTP/1.0 ${status} X\r\n\r\n${body}`);
      expect(seen).toMatchObject({ status: status === 404 ? 400 : status, error: { message } });
      if (body === own) expect(seen?.error).toMatchObject({ type: 't', code: 7 });
    }
  });

  it('becomes status 503 if the runtime cannot answer until it is restarted', async () => {
    for (const [status, text] of [
      [404, 'generation thread died'],
      [503, 'Loading model'],
    ] as const) {
      expect(await answered(`HTTP/1.0 ${status} X\r\n\r\n{"error": "${text}"}`)).toMatchObject({
        status: 503,
        error: { message: `tiny is down: ${text}`, code: 'mesh_down' },
      });
    }
  });

  it('counts as a failure even in the middle of a stream', async () => {
    const { next, gateway, counts } = replay;
    const [requests, failed] = await counts();
    const head = stream.subarray(0, stream.indexOf('\r\n\r\n') + 4);
    const events = 'data: {"choices":[]}\n\ndata: {"error":{"message":"broken"}}\n\ndata: [DONE]\n\n';
    Object.assign(next, { answer: Buffer.concat([head, Buffer.from(events)]), isReset: false });
    expect(await received(gateway, { stream: true })).toBe('an error');
    expect(await counts()).toEqual([requests, failed + 1]);
  });
});

describe('a request from the openai client', () => {
  it('is answered as the runtime would answer it, except where docs/endpoints.md says otherwise', () =>
    expectSameAnswers(replay, recordings, runs(500)));

  it('is refused at a path that the runtime does not have', async () => {
    const { client } = replay.gateway;
    for (const asked of [
      client.responses.create({ model: 'tiny', input: 'x' }),
      client.embeddings.create({ model: 'tiny', input: 'x' }),
    ]) {
      await expect(asked).rejects.toMatchObject({
        status: 404,
        message: expect.stringMatching(/The runtime of tiny does not have .*\. It has: \/v1\/chat\/completions, /),
      });
    }
  });
});
