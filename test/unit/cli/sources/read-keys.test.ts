import { describe, expect, it } from 'vitest';
import { keySourceRows, readKeys } from '../../../../src/cli/sources/read-keys.ts';
import type { DesiredFleet } from '../../../../src/model/desired.ts';
import { nodeName } from '../../../../src/model/node.ts';
import type { SecretSource } from '../../../../src/model/secret.ts';
import { hashOf } from '../../gateway/hash-of.ts';
import { onOnePage, sayValue } from '../../one-page.ts';
import { fakeRun } from '../console-of.ts';

const env = { ANA: 'key-of-ana-0123456789', BEN: 'key-of-ben-0123456789', SHORT: 'short', EMPTY: '' };
const names = [...Object.keys(env), 'NONE'];
const { run } = fakeRun({ env: { ...env, MESHWRIGHT_TRUST: names.map((name) => `env=${name}`).join('\n') } });
const source = (name: string): SecretSource => ({ kind: 'env', name });

const placement = (...names: readonly string[]) => ({
  name: 'chat',
  nodes: ['studio-1'].map(nodeName),
  publication: { servedName: 'chat', apiKeys: names.map(source) },
});

async function read(...names: readonly string[]) {
  const placements = [placement(...names)] as unknown as DesiredFleet['placements'];
  return sayValue((await readKeys(run, { placements }, '/'))['chat']);
}

describe("an endpoint's keys", () => {
  it('are identified by their hashes, in file order', async () => {
    expect(await read('ANA')).toEqual({ kind: 'known', value: [hashOf(env.ANA)] });
    expect(await read('BEN', 'ANA')).toEqual({ kind: 'known', value: [hashOf(env.BEN), hashOf(env.ANA)] });
  });

  it.each([
    ['one is missing', ['ANA', 'NONE'], 'env NONE. The environment variable NONE is not set.'],
    ['one is empty', ['EMPTY', 'ANA'], 'env EMPTY. The value is empty.'],
    ['one is too short', ['ANA', 'SHORT'], 'env SHORT. It has fewer than 20 characters'],
    ['two are the same', ['ANA', 'BEN', 'ANA'], 'env ANA contains the same key'],
  ])('are unknown if %s, and the reason contains no key', async (_, names, why) => {
    const keys = await read(...names);
    expect(keys).toMatchObject({ kind: 'unknown', reason: 'not-asked', detail: expect.stringContaining(why) });
    for (const key of [env.ANA, env.BEN]) expect(JSON.stringify(keys)).not.toContain(key);
  });
});

describe('key sources', () => {
  const rows = async (node: string) => {
    const placements = [placement('ANA', 'NONE', 'BEN', 'ANA')] as unknown as DesiredFleet['placements'];
    return sayValue(await keySourceRows(run, { placements }, { folder: '/', nodes: [nodeName(node)] }));
  };

  it('are listed with their states, without the keys', async () => {
    const listed = await rows('studio-1');
    expect(listed.map(({ source: from, state }) => [from, state])).toEqual([
      ['env ANA', 'resolves'],
      ['env NONE', 'missing'],
      ['env BEN', 'resolves'],
      ['env ANA', 'missing'],
    ]);
    for (const key of [env.ANA, env.BEN]) expect(JSON.stringify(listed)).not.toContain(key);
    expect(await rows('studio-2')).toEqual([]);
  });

  it("are also listed for a fallback's nodes, because the gateway there uses the keys", async () => {
    const placements = [
      { ...placement('ANA'), fallback: { nodes: [nodeName('studio-2')], contextTokens: 1 } },
    ] as unknown as DesiredFleet['placements'];
    const listed = await keySourceRows(run, { placements }, { folder: '/', nodes: [nodeName('studio-2')] });
    expect(listed.map(({ source: from }) => from)).toEqual(['env ANA']);
  });
});

onOnePage('read-keys');
