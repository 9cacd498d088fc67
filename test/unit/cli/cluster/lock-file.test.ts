import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { keepLock, readLock } from '../../../../src/cli/cluster/open-cluster.ts';
import { rehearsedLock } from '../../../../src/cli/cluster/settle-cluster.ts';
import { emptyLock } from '../../../../src/config/lock.ts';
import { renderLock, withPin } from '../../../../src/config/lock-text.ts';
import type { ClusterLock } from '../../../../src/model/cluster-lock.ts';
import { digest } from '../../../../src/model/digest.ts';
import { temporaryFolder } from '../../../temporary-folder.ts';

const { at } = temporaryFolder();

const key = { type: 'ssh-ed25519', base64: 'AAAAC3NzaC1lZDI1NTE5AAAAIB2P1k1Yz5kQ0m1n1WmZJ1n9n2b2p0Qe6k5S3b5Zk7Rr' };
const network = (address: string) => ({ address, prefixLength: 30 });
const link = 'studio-1:2 <-> studio-2:2';
const archive = (letter: string) => ({ sha256: digest(letter.repeat(64)), sizeBytes: 7 });

describe('the lock file', () => {
  it('keeps pins and nodes that other runs have written since', async () => {
    const place = { path: at('cluster.lock'), shown: 'cluster.lock' };
    const before = withPin({ ...emptyLock('x'), nodes: ['studio-9'] }, 'studio-1.lan', key);
    writeFileSync(place.path, renderLock(before));
    const resolved: ClusterLock = { ...emptyLock('x'), nodes: ['studio-1'], links: { [link]: network('10.77.0.0') } };
    expect(await keepLock(place, resolved)).toBe(true);
    const now = readLock(place);
    expect(now.nodes).toEqual(['studio-1', 'studio-9']);
    expect(now.links).toEqual(resolved.links);
    expect(Object.keys(now.hostKeys)).toEqual(['studio-1.lan']);
  });

  it('keeps the nodes being withdrawn, except those that accepted a login', async () => {
    const place = { path: at('withdrawing.lock'), shown: 'withdrawing.lock' };
    writeFileSync(place.path, renderLock({ ...emptyLock('x'), withdrawing: ['studio-1', 'studio-2'] }));
    await keepLock(place, emptyLock('x'));
    expect(readLock(place).withdrawing).toEqual(['studio-1', 'studio-2']);
    await keepLock(place, emptyLock('x'), ['studio-1']);
    expect(readLock(place).withdrawing).toEqual(['studio-2']);
  });

  it('is not written if nothing is new', async () => {
    const place = { path: at('same.lock'), shown: 'same.lock' };
    expect(await keepLock(place, emptyLock('x'))).toBe(false);
    expect(() => statSync(place.path)).toThrow('ENOENT');
    writeFileSync(place.path, '# by hand\nlock: 1\n');
    expect(await keepLock(place, emptyLock('x'))).toBe(false);
    expect(readFileSync(place.path, 'utf8')).toContain('# by hand');
  });
});

describe('the simulated lock', () => {
  const simulated: ClusterLock = {
    ...emptyLock('sim'),
    nodes: ['studio-1'],
    links: { 'studio-1:3 <-> studio-3:2': network('10.77.0.0') },
    formerNetworks: { '10.77.0.4/30': link, '10.77.0.8/30': link },
    runtimes: { reference: archive('a'), other: archive('b') },
  };

  it('takes addresses and archives from the committed lock, but keeps its own nodes', () => {
    const committed: ClusterLock = {
      ...emptyLock('cluster.lock'),
      nodes: ['studio-4'],
      links: { [link]: network('10.77.0.4') },
      runtimes: { reference: archive('c') },
    };
    expect(rehearsedLock(committed, simulated)).toEqual({
      ...simulated,
      links: committed.links,
      formerNetworks: { '10.77.0.8/30': link },
      runtimes: { reference: archive('c'), other: archive('b') },
    });
  });

  it('stays unchanged if nothing is committed', () => {
    expect(rehearsedLock(emptyLock('cluster.lock'), simulated)).toEqual(simulated);
  });
});
