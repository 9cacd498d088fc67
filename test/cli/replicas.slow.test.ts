import { beforeAll, describe, expect, it } from 'vitest';
import { filePart, fileText, first, pairFile, second } from '../scenarios/converge-file.ts';
import { clientKey, publish, writePublishedSources } from '../scenarios/published-sources.ts';
import { json, meshwright } from './meshwright.ts';
import { pairPlace } from './pair.ts';

const flat = (text: string): string => text.replace(/\s+/g, ' ');

/** The whole model on each of these Macs. */
const fileOn = (...nodes: readonly string[]) =>
  pairFile((value) => {
    publish(value);
    const { sharding: _, fallback: __, ...chat } = filePart(value, 'placements', 'chat');
    filePart(value, 'placements')['chat'] = { ...chat, nodes, replicas: 'per-node' };
  });

const run = (...words: string[]) =>
  meshwright(place, [...words, '--sim'], { env: { CLIENT_KEY: clientKey, MESHWRIGHT_TRUST: 'env=CLIENT_KEY' } });
const { place } = pairPlace(fileOn(first, second));
beforeAll(async () => {
  await writePublishedSources(place.folder);
});

/** The base URL of a node's gateway on this computer. */
async function baseUrl(node: string): Promise<string> {
  const { endpoints } = json(await run('endpoints', '--json')) as {
    readonly endpoints: readonly { readonly node: string; readonly baseUrl: string }[];
  };
  return endpoints.find((one) => one.node === node)?.baseUrl ?? '';
}

/** The status of a client's request to the gateway of a node. */
async function ask(node: string): Promise<number> {
  const answer = await fetch(`${await baseUrl(node)}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${clientKey}` },
    body: JSON.stringify({ model: 'tiny', max_tokens: 3, messages: [{ role: 'user', content: 'Hello' }] }),
  });
  await answer.arrayBuffer();
  return answer.status;
}

/** The number of requests that each replica answered, according to its gateway. */
async function answered(): Promise<readonly (number | undefined)[]> {
  const { placements } = json(await run('status', '--json')) as {
    readonly placements: Readonly<Record<string, { readonly clients?: { readonly requests?: number } }>>;
  };
  return [first, second].map((node) => placements[`chat-${node}`]?.clients?.requests);
}

describe('replicas on two Macs', () => {
  it('return a token through either gateway, and the next plan is empty', async () => {
    const applied = await run('apply', '--yes');
    expect([applied.code, applied.stderr]).toEqual([0, '']);
    expect(flat(applied.stdout)).toContain(
      `chat serves at ${await baseUrl(first)} and ${await baseUrl(second)} Try it: meshwright ask chat "Hello" --sim`,
    );
    expect((await run('plan', '--detailed-exitcode')).code).toBe(0);
    expect([await ask(first), await ask(second)]).toEqual([200, 200]);
    expect(await answered()).toEqual([1, 1]);
  });

  it('answer for a drained replica over the office network', async () => {
    expect((await run('drain', `chat-${first}`, '--yes')).code).toBe(0);
    expect(await ask(first)).toBe(200);
    expect(await answered()).toEqual([1, 2]);
    expect((await run('start', 'chat', '--yes')).code).toBe(0);
  });

  it('are measured one at a time', async () => {
    const { code, stderr } = await run('bench', 'chat');
    expect([code, flat(stderr)]).toEqual([64, expect.stringContaining(`meshwright bench chat-${first} --sim`)]);
  });

  it('leave the other gateway running when a Mac is removed from the file', async () => {
    place.write('cluster.yaml', fileText(fileOn(first)));
    const { stdout } = await run('plan');
    place.write('cluster.yaml', fileText(fileOn(first, second)));
    expect(flat(stdout)).toContain(`~ gateway/8080/chat-${first}/replicas a different list -> 0 other replicas`);
    expect(stdout).toMatch(new RegExp(`^Effects: interrupts chat-${second} for up to 60 s\\.$`, 'm'));
  });

  it("still answer while one replica's Mac has no power, and apply reports that Mac", async () => {
    expect((await meshwright(place, ['sim', 'fault', 'power-cut', first])).code).toBe(0);
    expect([await ask(second), await ask(second)]).toEqual([200, 200]);
    const asked = await run('ask', 'chat', 'Hello');
    expect([asked.code, asked.stderr]).toEqual([
      0,
      expect.stringContaining(`chat-${first} gave no answer; asking chat-${second}`),
    ]);
    const applied = await run('apply', '--yes');
    expect([applied.code, applied.stdout]).toEqual([4, expect.stringContaining(`chat-${first}`)]);
    expect(await ask(second)).toBe(200);
  });
});
