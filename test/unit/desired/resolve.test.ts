import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { resolveFleet as resolveFleetItself } from '../../../src/desired/resolve.ts';
import { keysByDriver } from '../../../src/drivers/registry.ts';
import { loadCluster } from '../../../src/engine/load-cluster.ts';
import type { ClusterSpec } from '../../../src/model/cluster-spec.generated.ts';
import { onOnePage, onPage } from '../one-page.ts';

const resolveFleet = onPage((spec: ClusterSpec) => resolveFleetItself(spec, keysByDriver));

const smallest: ClusterSpec = { schema: 1, name: 'rack', nodes: { a: { host: 'a.lan' } } };

describe('a resolved fleet', () => {
  it('changes nothing that the file does not mention', () => {
    expect(resolveFleet(smallest)).toEqual({
      name: 'rack',
      nodes: [{ name: 'a', host: 'a.lan', hardware: {}, labels: {} }],
      macos: {},
      power: {},
      system: { fileVault: 'any', accounts: { ranks: '_meshrank', transfers: '_meshmove' }, keeper: 'auto' },
      thunderbolt: { bridge: 'keep', rdma: 'auto', avoid: [], links: [], networks: {}, formerNetworks: [] },
      runtimes: [],
      models: [],
      placements: [],
    });
  });

  it('has every key of the full example, as in golden/full-example.txt', async () => {
    const { fleet } = loadCluster(readFileSync('docs/cluster.full.yaml'), 'cluster.full.yaml');
    await expect(`${JSON.stringify(fleet, null, 2)}\n`).toMatchFileSnapshot('golden/full-example.txt');
  });

  it('removes the bridge if the file has a thunderbolt section', () => {
    expect(resolveFleet({ ...smallest, thunderbolt: {} }).thunderbolt.bridge).toBe('remove');
    expect(resolveFleet({ ...smallest, thunderbolt: { bridge: 'keep' } }).thunderbolt.bridge).toBe('keep');
  });

  it('gives a node the ssh settings unless it has its own, and sorts nodes by name', () => {
    const { nodes } = resolveFleet({
      ...smallest,
      ssh: { user: 'mesh', port: 2200, identityFile: '~/.ssh/key' },
      nodes: { b: { host: 'b.lan', user: 'ana', port: 22 }, a: { host: 'a.lan' }, B2: { host: 'x.lan' } },
    });
    expect(nodes.map((node) => [node.name, node.user, node.port, node.identityFile])).toEqual([
      ['B2', 'mesh', 2200, '~/.ssh/key'],
      ['a', 'mesh', 2200, '~/.ssh/key'],
      ['b', 'ana', 22, '~/.ssh/key'],
    ]);
  });

  it('turns labels and keywords into values', () => {
    const fleet = resolveFleet({
      ...smallest,
      power: { sleep: 'never', restartAfterPowerLoss: true },
      system: { wiredLimit: '480GB', fileVault: 'disabled' },
      nodes: { a: { host: 'a.lan', hardware: { model: 'Mac15,14', memory: '512GB', serial: 'ABC123' } } },
    });
    expect(fleet.nodes[0]?.hardware).toEqual({ model: 'Mac15,14', memoryBytes: 2 ** 39, serial: 'ABC123' });
    expect(fleet.power).toEqual({ sleepMinutes: 0, restartAfterPowerLoss: true });
    expect(fleet.system).toEqual({
      wiredLimit: { kind: 'bytes', bytes: 480e9 },
      fileVault: 'disabled',
      keeper: 'auto',
      accounts: { ranks: '_meshrank', transfers: '_meshmove' },
    });
    expect(resolveFleet({ ...smallest, system: { keeper: 'none' } }).system).toEqual({
      fileVault: 'any',
      accounts: { ranks: '_meshrank', transfers: '_meshmove' },
    });
    const gateway = { node: './node.tar.gz' };
    const accountsOf = (accounts: { ranks?: string; gateway?: string; transfers?: string }) =>
      resolveFleet({ ...smallest, gateway, system: { accounts } }).system.accounts;
    expect(accountsOf({})).toEqual({ ranks: '_meshrank', gateway: '_meshgate', transfers: '_meshmove' });
    expect(accountsOf({ ranks: 'login', gateway: 'gates' })).toEqual({ gateway: 'gates', transfers: '_meshmove' });
    expect(accountsOf({ gateway: 'login', transfers: 'login' })).toEqual({ ranks: '_meshrank' });
    expect(resolveFleet({ ...smallest, power: { sleep: 30 } }).power).toEqual({ sleepMinutes: 30 });
    expect(resolveFleet({ ...smallest, system: { wiredLimit: 'default' } }).system.wiredLimit).toEqual({
      kind: 'default',
    });
  });

  it('reads links and the pool', () => {
    const { thunderbolt } = resolveFleet({
      ...smallest,
      thunderbolt: { addressing: { pool: '10.77.0.0/24' }, links: ['a:2 <-> b:3', 'a:4<->b:5'] },
    });
    expect(thunderbolt.pool).toEqual({ address: '10.77.0.0', prefixLength: 24 });
    expect(thunderbolt.links).toEqual([
      {
        index: 0,
        ends: [
          { node: 'a', receptacle: 2 },
          { node: 'b', receptacle: 3 },
        ],
      },
      {
        index: 1,
        ends: [
          { node: 'a', receptacle: 4 },
          { node: 'b', receptacle: 5 },
        ],
      },
    ]);
  });

  it('lists each receptacle to avoid, from the file or the model, once and only if it exists', () => {
    const { thunderbolt } = resolveFleet({
      ...smallest,
      nodes: {
        studio: { host: 'a.lan', hardware: { model: 'Mac15,14' } },
        mini: { host: 'b.lan', hardware: { model: 'Mac16,11' } },
        other: { host: 'c.lan' },
      },
      thunderbolt: { avoid: [1, 4, 'mini:2', 'studio:1'] },
    });
    expect(thunderbolt.avoid.map((end) => `${end.node}:${end.receptacle}`)).toEqual([
      'mini:1',
      'mini:2',
      'other:1',
      'other:4',
      'studio:1',
      'studio:4',
    ]);
  });
});

onOnePage('resolve');
