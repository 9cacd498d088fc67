import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { observe } from '../../../../src/drivers/llamacpp/llamacpp-rpc.ts';
import { doubleText } from '../../../../src/sim/doubles/double-files.ts';
import { createPortClaims } from '../../../../src/sim/hosts/link-table.ts';
import { sharedFolder } from '../../../rack/kept-running.ts';
import { writeTinyGguf } from '../../../tiny-models.ts';

const folder = sharedFolder('mw-llama-double-');
const started: ChildProcess[] = [];
const claims = createPortClaims();
beforeAll(async () => {
  for (const name of ['llama-server', 'ggml-rpc-server']) {
    await writeFile(join(folder, name), doubleText('llamacpp/llama.pl'));
  }
  await writeTinyGguf(join(folder, 'tiny.gguf'));
});
afterAll(async () => {
  for (const one of started) one.kill('SIGKILL');
  await claims.close();
});

/** Starts a program of the double and waits until its output matches. */
async function start(name: string, words: readonly string[], ready: RegExp) {
  const child = spawn('perl', [join(folder, name), ...words], { env: { GGML_RPC_NO_RDMA: '1' } });
  started.push(child);
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece) => (text += String(piece)));
  const ended = once(child, 'close');
  while (!ready.test(text) && child.exitCode === null) await Promise.race([once(child.stdout, 'data'), ended]);
  return { child, ended, text: () => text };
}

const ask = async (port: number): Promise<Response> =>
  fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
    method: 'POST',
    body: JSON.stringify({ messages: [{ role: 'user', content: 'Hi' }], max_tokens: 1 }),
  });

describe('the llama.cpp double', () => {
  it('answers while its worker runs, and crashes like a real server without it', async () => {
    const [workerPort, port] = [await claims.take(), await claims.take()];
    const worker = await start('ggml-rpc-server', ['--host', '127.0.0.1', '--port', String(workerPort)], /transport/);
    const words = ['--model', join(folder, 'tiny.gguf'), '--host', '127.0.0.1', '--port', String(port)];
    const server = await start('llama-server', [...words, '--rpc', `127.0.0.1:${workerPort}`], /is listening/);
    expect(await (await ask(port)).json()).toMatchObject({
      choices: [{ message: { content: expect.stringMatching(/^[0-9a-f]{8}$/) } }],
      usage: { completion_tokens: 1 },
    });
    expect([observe(server.text().split('\n')).size, observe(worker.text().split('\n')).transport]).toEqual([2, 'tcp']);
    worker.child.kill('SIGKILL');
    await worker.ended;
    await expect(ask(port)).rejects.toThrow();
    expect(await server.ended).toEqual([134, null]);
    expect(server.text()).toContain('Remote RPC server crashed or returned malformed response');
  });

  it('rejects unknown options and weights that are not GGUF', async () => {
    await writeFile(join(folder, 'no.gguf'), 'none');
    const words = ['--host', '127.0.0.1', '--port', '1'];
    const unknown = await start('llama-server', [...words, '--model', 'x', '--what', '1'], /$^/);
    expect([await unknown.ended, unknown.text()]).toEqual([[1, null], 'error: invalid argument: --what\n']);
    const wrong = await start('llama-server', [...words, '--model', join(folder, 'no.gguf')], /$^/);
    expect([await wrong.ended, wrong.text()]).toEqual([[1, null], expect.stringContaining('invalid magic characters')]);
  });

  it('loads a drafter without changing the answer, and refuses one that is missing or not GGUF', async () => {
    const port = await claims.take();
    const words = ['--model', join(folder, 'tiny.gguf'), '--host', '127.0.0.1', '--port', String(port)];
    const drafted = (path: string, type = 'draft-simple') =>
      start('llama-server', [...words, '--model-draft', path, '--spec-type', type], /is listening/);
    const alone = await start('llama-server', words, /is listening/);
    const answer: unknown = await (await ask(port)).json();
    alone.child.kill('SIGKILL');
    await alone.ended;
    const server = await drafted(join(folder, 'tiny.gguf'));
    const { choices } = Object(answer);
    expect(await (await ask(port)).json()).toMatchObject({ choices });
    expect(server.text()).toContain("adding speculative implementation 'draft-simple'");
    await writeFile(join(folder, 'draft.txt'), 'none');
    const ends = await Promise.all(
      [drafted('/none.gguf'), drafted(join(folder, 'draft.txt')), drafted('/none.gguf', 'other')].map(async (one) => {
        const { ended, text } = await one;
        return [await ended, text()];
      }),
    );
    expect(ends).toEqual([
      [[1, null], expect.stringContaining("failed to open GGUF file '/none.gguf'")],
      [[1, null], expect.stringContaining('invalid magic characters')],
      [[1, null], expect.stringContaining('unknown speculative type: other')],
    ]);
  });
});
