import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { askByClients, hasClients } from '../python/ask-clients.ts';
import { filePart, fileText, first, pairFile } from '../scenarios/converge-file.ts';
import { publish, writePublishedSources } from '../scenarios/published-sources.ts';
import { json, meshwright } from './meshwright.ts';
import { pairPlace } from './pair.ts';

const published = (port: number) => pairFile((value) => publish(value, { apiKey: { env: 'CLIENT_KEY' }, port }));
const unpublished = pairFile((value) => {
  filePart(value, 'placements', 'chat')['endpoint'] = { port: 8_080 };
});

const run = (...words: string[]) => meshwright(place, words);
const { place } = pairPlace(published(8_080));
beforeAll(async () => {
  await writePublishedSources(place.folder);
  await applied();
});

async function applied(): Promise<string> {
  const ran = await run('apply', '--sim', '--yes', '--allow', 'interrupt');
  expect([ran.code, ran.stderr]).toEqual([0, '']);
  return ran.stdout;
}

interface Endpoint {
  readonly url: string;
  readonly baseUrl: string;
  readonly access: { readonly simulatedKey?: string };
}

async function endpoint(): Promise<Endpoint> {
  const { endpoints } = json(await run('endpoints', '--sim', '--json')) as { readonly endpoints: readonly Endpoint[] };
  const [one] = endpoints;
  if (one === undefined) throw new Error('the file has no endpoint');
  return one;
}

/** Runs the command below `curl` exactly as `endpoints --sim` prints it, in this computer's shell. */
async function runPrinted(): Promise<{ readonly choices: readonly unknown[] }> {
  const { stdout } = await run('endpoints', '--sim');
  const [, command = ''] = /^ {2}curl\n((?: {4}.*\n)+)/m.exec(stdout) ?? [];
  return JSON.parse((await promisify(execFile)('/bin/sh', ['-c', command])).stdout);
}

const answer = { model: 'tiny', choices: [expect.objectContaining({ finish_reason: expect.any(String) })] };

describe('an endpoint in a rehearsal', () => {
  it('answers the printed curl command when a user runs it in a shell', async () => {
    expect(await runPrinted()).toMatchObject(answer);
  });

  it.skipIf(!hasClients)('works with the openai Python client', async () => {
    const { url, access } = await endpoint();
    const [byEndpoint] = await askByClients({
      url,
      key: access.simulatedKey ?? '',
      calls: ['openai models', 'openai chat', 'openai stream'],
    });
    expect(byEndpoint).toEqual({
      'openai models': ['tiny'],
      'openai chat': { model: 'tiny', tokens: 4 },
      'openai stream': { hasText: true },
    });
  });

  it('gets an address for a new port as soon as the port is in the file, and serves there after apply', async () => {
    const { url: before } = await endpoint();
    place.write('cluster.yaml', fileText(published(8_090)));
    const { url, baseUrl } = await endpoint();
    expect(url).not.toBe(before);
    expect(await applied()).toContain(`chat serves at ${baseUrl}\n`);
    expect(await runPrinted()).toMatchObject(answer);
    place.write('cluster.yaml', fileText(published(8_080)));
    expect((await endpoint()).url).toBe(before);
    await applied();
    expect(await runPrinted()).toMatchObject(answer);
  });

  it('drops connections while its Mac has no power', async () => {
    const { baseUrl } = await endpoint();
    expect((await run('sim', 'fault', 'power-cut', first)).code).toBe(0);
    await expect(fetch(`${baseUrl}/models`)).rejects.toThrow();
    expect((await run('sim', 'fault', '--clear')).code).toBe(0);
    await applied();
    expect(await runPrinted()).toMatchObject(answer);
  });

  it('keeps its address after sim down, which disconnects its clients', async () => {
    const { url } = await endpoint();
    const client = connect(Number(new URL(url).port), '127.0.0.1');
    await once(client, 'connect');
    const closed = once(client, 'close');
    expect((await run('sim', 'down')).code).toBe(0);
    await closed;
    await expect(fetch(url)).rejects.toThrow();
    const down = await run('endpoints', '--sim');
    expect([down.code, down.stderr]).toEqual([1, expect.stringContaining('sim/not-running')]);
    expect((await run('sim', 'up')).code).toBe(0);
    expect((await endpoint()).url).toBe(url);
    await applied();
    expect(await runPrinted()).toMatchObject(answer);
  });

  it('needs no tunnel even if it is not published', async () => {
    place.write('cluster.yaml', fileText(unpublished));
    await applied();
    expect((await endpoint()).access).toEqual({ kind: 'anybody' });
    expect(await runPrinted()).toMatchObject({ choices: answer.choices });
  });
});
