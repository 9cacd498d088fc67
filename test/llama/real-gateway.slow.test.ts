import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { llamacppRpc } from '../../src/drivers/llamacpp/llamacpp-rpc.ts';
import { tinyShape } from '../../src/sim/doubles/tiny-gguf.ts';
import { askByClients, hasClients } from '../python/ask-clients.ts';
import { startTestGateway, type TestGateway, upstreamAt } from '../scenarios/test-gateway.ts';
import { writeTinyGguf } from '../tiny-models.ts';
import { type LocalLlama, startServer } from './local-llama.ts';
import { findLlamaPackages } from './packages.ts';

const found = findLlamaPackages();
let folder: string;
let server: LocalLlama;
let gateway: TestGateway;

describe.skipIf(found.kind === 'missing')('a gateway in front of the real llama-server', () => {
  beforeAll(async () => {
    if (found.kind === 'missing') return;
    folder = await mkdtemp(join(tmpdir(), 'mw-llama-'));
    const model = join(folder, 'tiny.gguf');
    await writeTinyGguf(model, tinyShape);
    server = await startServer(found, model, ['--ctx-size', '512', '--parallel', '1', '--alias', 'chat']);
    gateway = await startTestGateway([
      upstreamAt(server.port, { model: 'chat', maxRequests: 1, ...llamacppRpc.api?.() }),
    ]);
  });
  afterAll(async () => {
    await gateway?.end();
    await server?.stop();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });

  it.skipIf(!hasClients)('works with the openai, litellm and anthropic Python clients', async () => {
    const [byGateway] = await askByClients({ url: gateway.url });
    expect(byGateway).toEqual({
      'openai models': ['tiny'],
      'openai chat': { model: 'tiny', tokens: 4 },
      'openai nulls': { model: 'tiny', tokens: 4 },
      'openai stream': { hasText: true },
      'openai empty': { model: 'tiny', tokens: expect.any(Number) },
      'openai responses': 'completed',
      'anthropic message': { model: 'tiny', tokens: 4, end: 'max_tokens' },
      'anthropic stream': { hasText: true, end: 'max_tokens' },
      'anthropic wrong': { error: 'NotFoundError', text: expect.stringContaining('other') },
      'litellm chat': { model: 'tiny', tokens: 4 },
      'litellm stream': { hasText: true },
      'litellm wrong': { model: 'tiny', tokens: 4 },
    });
  });
});
