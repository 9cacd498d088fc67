import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { observe } from '../../src/drivers/llamacpp/llamacpp-rpc.ts';
import { llamaBytes, memory } from '../../src/drivers/llamacpp/memory.ts';
import { logPattern, signatures } from '../../src/drivers/messages/llamacpp.ts';
import type { ModelShape } from '../../src/model/model-shape.ts';
import { ggufHeader, ggufShape } from '../../src/rack/artifacts/shapes/gguf.ts';
import { type TinyShape, tinyShape } from '../../src/sim/doubles/tiny-gguf.ts';
import { goldenRequest, type LocalLlama, startServer, startWorker, textIn } from '../llama/local-llama.ts';
import { findLlamaPackages, llamaPackages } from '../llama/packages.ts';
import { writeTinyGguf } from '../tiny-models.ts';
import { keptByAwk } from '../unit/drivers/llamacpp/kept-by-awk.ts';

const found = findLlamaPackages();
const mostWorkers = 4;
let folder: string;
let workers: readonly LocalLlama[];

beforeAll(async () => {
  if (found.kind === 'missing') return;
  folder = await mkdtemp(join(tmpdir(), 'mw-llama-'));
  workers = await Promise.all(Array.from({ length: mostWorkers }, () => startWorker(llamaPackages(found))));
});
afterAll(async () => {
  for (const worker of workers ?? []) await worker.stop();
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
});

interface Case {
  readonly shape: TinyShape;
  /** The share of each worker. */
  readonly shares: readonly number[];
  readonly contextTokens: number;
}

const headDims = 32;

/** Models of every kind of attention, up to a few tens of megabytes, over two to four workers. */
const cases: fc.Arbitrary<Case> = fc
  .record({
    layers: fc.integer({ min: 1, max: 11 }),
    heads: fc.constantFrom(2, 4, 8, 16),
    divisor: fc.constantFrom(1, 2, 4, 8, 16),
    widths: fc.integer({ min: 1, max: 4 }),
    shares: fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 2, maxLength: mostWorkers }),
    contextTokens: fc.constantFrom(256, 512, 1_024, 2_048, 4_096),
  })
  .map(({ layers, heads, divisor, widths, shares, contextTokens }) => ({
    shape: {
      layers,
      hidden: heads * headDims,
      heads,
      kvHeads: Math.max(1, heads / divisor),
      intermediate: widths * heads * headDims,
      context: 4_096,
    },
    shares,
    contextTokens,
  }));

/** The shape that the product reads from the file. */
async function shapeIn(path: string): Promise<ModelShape> {
  const content = await readFile(path);
  const header = ggufHeader(content, content.length);
  if (header.kind !== 'known') throw new Error(`the model's header is ${header.kind}`);
  const fact = ggufShape(header.metadata, header.tensors);
  if (fact.kind !== 'known') throw new Error(fact.why);
  return fact.shape;
}

/** The MiB that a log reports for a kind of buffer on each worker, as printed; `0.00` if there is no line. */
const loggedIn = (log: string, kind: string, ports: readonly number[]): readonly string[] =>
  ports.map((port) => {
    const line = new RegExp(`RPC\\d+\\[127\\.0\\.0\\.1:${port}\\] +${kind} buffer size = +([\\d.]+) MiB`);
    return line.exec(log)?.[1] ?? '0.00';
  });

/** The last printed digit may be rounded up or down. */
const isPrinted = (bytes: number, printed: string): boolean =>
  Math.abs(bytes / 2 ** 20 - Number(printed)) <= 0.005 + 1e-9;

describe.skipIf(found.kind === 'missing')('the memory per device for a model in the real llama.cpp', () => {
  it("matches the product's prediction for 30 random shapes", { timeout: 240_000 }, async () => {
    const wrong: unknown[] = [];
    for (const one of fc.sample(cases, { seed: 20_260_928, numRuns: 30 })) {
      const path = join(folder, 'model.gguf');
      await writeTinyGguf(path, one.shape);
      const ports = workers.slice(0, one.shares.length).map(({ port }) => port);
      const server = await startServer(llamaPackages(found), path, [
        ...['--rpc', ports.map((port) => `127.0.0.1:${port}`).join(',')],
        ...['--split-mode', 'layer', '--tensor-split', one.shares.join(','), '--n-gpu-layers', '9999'],
        ...['--ctx-size', String(one.contextTokens), '--parallel', '1', '--log-verbosity', '4', '--no-warmup'],
      ]);
      await server.stop();
      // On a computer without a GPU, llama.cpp has only the workers. The product regards its last device as the leader.
      const inRankOrder = [...one.shares.slice(-1), ...one.shares.slice(0, -1)];
      const ranks = llamaBytes(await shapeIn(path), inRankOrder, one.contextTokens);
      const devices = [...ranks.slice(1), ...ranks.slice(0, 1)];
      const weights = loggedIn(server.log(), 'model', ports);
      const caches = loggedIn(server.log(), 'KV', ports);
      const isRight = devices.every(
        ({ weightBytes, cacheBytes }, device) =>
          isPrinted(weightBytes, weights[device] ?? '') && isPrinted(cacheBytes, caches[device] ?? ''),
      );
      expect(server.log()).toMatch(/model buffer size = +[\d.]+ MiB/);
      // All workers have the same address here, so the product adds up their values.
      const { held = [] } = observe(server.log().split('\n'));
      const ofWorkers = held.find(({ address }) => address === '127.0.0.1');
      const sumOf = (printed: readonly string[]): number =>
        printed.reduce((sum, one) => sum + Math.round(Number(one) * 2 ** 20), 0);
      expect([ofWorkers?.weights, ofWorkers?.cache]).toEqual([sumOf(weights), sumOf(caches)]);
      if (!isRight) wrong.push({ one, devices, weights, caches });
    }
    expect(wrong).toEqual([]);
  });
});

describe.skipIf(found.kind === 'missing')('a drafter of the real llama.cpp', () => {
  const drafterShape = { ...tinyShape, layers: 1, seed: 8 };

  /** The answer of a server with this model, the drafted tokens in its statistics, and its log. */
  async function answered(model: string, words: readonly string[]) {
    const own = ['--ctx-size', '512', '--parallel', '2', '--n-gpu-layers', '9999', '--log-verbosity', '4'];
    const server = await startServer(llamaPackages(found), model, [...own, ...words]);
    const url = `http://127.0.0.1:${server.port}/v1/chat/completions`;
    const answer = await (await fetch(url, { method: 'POST', body: goldenRequest('tiny') })).text();
    await server.stop();
    return { text: textIn(answer), drafted: Object(JSON.parse(answer)).timings?.draft_n, log: server.log() };
  }

  it('drafts without changing the answer, and uses the memory that the product predicts', async () => {
    const [model, drafter, stranger] = ['model', 'drafter', 'stranger'].map((name) => join(folder, `${name}.gguf`));
    if (model === undefined || drafter === undefined || stranger === undefined) throw new Error('no paths');
    await writeTinyGguf(model, tinyShape);
    await writeTinyGguf(drafter, drafterShape);
    const words = (path: string) => [
      '--model-draft',
      path,
      '--gpu-layers-draft',
      '9999',
      '--spec-type',
      'draft-simple',
    ];
    const alone = await answered(model, []);
    const helped = await answered(model, words(drafter));
    expect(helped.text).toBe(alone.text);
    expect([alone.drafted, helped.drafted]).toEqual([undefined, expect.any(Number)]);
    const shapes = { shape: await shapeIn(model), drafterShape: await shapeIn(drafter) };
    const wish = { ...shapes, contextTokens: 256, parallel: 2, sharding: undefined } as never;
    const [held] = memory.held?.(wish, [{}]) ?? [];
    const [seen] = observe(helped.log.split('\n')).held ?? [];
    expect(Math.abs((held?.cache ?? 0) - (seen?.cache ?? 0)) / 2 ** 20).toBeLessThan(0.02);
    // One different token is enough: the server then answers without the drafter.
    const bytes = await readFile(drafter);
    bytes.write('@', bytes.indexOf('<x354>') + 1);
    await writeFile(stranger, bytes);
    const unhelped = await answered(model, words(stranger));
    expect([unhelped.text, unhelped.drafted]).toEqual([alone.text, undefined]);
    const lines = unhelped.log.split('\n');
    expect(observe(keptByAwk(logPattern, lines)).isWithoutDrafter).toBe(true);
    expect(signatures.filter(({ pattern }) => lines.some((line) => pattern.test(line)))).toEqual([]);
  });
});
