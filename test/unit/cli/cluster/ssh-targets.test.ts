import { utils } from 'ssh2';
import { describe, expect, it } from 'vitest';
import { openTargets } from '../../../../src/cli/cluster/ssh-targets.ts';
import { emptyLock } from '../../../../src/config/lock.ts';
import { renderLock, withPin } from '../../../../src/config/lock-text.ts';
import { plainText } from '../../../../src/diagnostics/prose-text.ts';
import { loadCluster } from '../../../../src/engine/load-cluster.ts';
import type { ClusterLock } from '../../../../src/model/cluster-lock.ts';
import { temporaryFolder } from '../../../temporary-folder.ts';
import { problemsOf } from '../../problems-of.ts';
import { fakeRun } from '../console-of.ts';

const { path: folder, at, write } = temporaryFolder();
write('key', utils.generateKeyPairSync('ecdsa', { bits: 256 }).private);
const text = `schema: 1
name: rack
ssh: { user: mesh, identityFile: ./key }
nodes:
  one: { host: one.lan }
  two: { host: two.lan }
  three: { host: three.lan }
`;
write('cluster.yaml', text);
const { fleet } = loadCluster(text, 'cluster.yaml');

const key = (base64: string) => ({ type: 'ssh-ed25519', base64 });
const pinned = (base64: string, ...hosts: readonly string[]): ClusterLock =>
  hosts.reduce((lock, host) => withPin(lock, host, key(base64)), emptyLock('x'));
const [first, second] = [
  'B2P1k1Yz5kQ0m1n1WmZJ1n9n2b2p0Qe6k5S3b5Zk7Rr',
  'C2P1k1Yz5kQ0m1n1WmZJ1n9n2b2p0Qe6k5S3b5Zk7Rr',
].map((end) => `AAAAC3NzaC1lZDI1NTE5AAAAI${end}`) as [string, string];

/** The words that CI asks for before any node is contacted, or the number of nodes that it may contact. */
async function asked(lock: ClusterLock, { base, env = { CI: 'true' } }: { base?: ClusterLock; env?: object } = {}) {
  if (base !== undefined) write('base.lock', renderLock(base));
  const options = { parallel: 1, deadline: 1, color: false, ...(base && { baseLock: 'base.lock' }) };
  const { run } = fakeRun({ folder, env: { ...env }, options });
  const ways = openTargets(run, { path: at('cluster.yaml'), lock });
  const work = async () => (await ways.toAll(fleet?.nodes ?? [])).filter(({ way }) => way.kind === 'way').length;
  return work().catch((error: unknown) =>
    problemsOf(() => {
      throw error;
    }).map(({ hint }) => plainText(hint).split('\n').at(-1)?.trim()),
  );
}

describe('the nodes named in a file', () => {
  it('are contacted without permission outside CI', async () => {
    expect(await asked(emptyLock('x'), { env: {} })).toBe(3);
  });

  it('need permission in CI, and a single error shows the arguments for all nodes', async () => {
    expect(await asked(emptyLock('x'))).toEqual(['--trust host=one.lan --trust host=three.lan --trust host=two.lan']);
    expect(await asked(emptyLock('x'), { env: { CI: '1', MESHWRIGHT_TRUST: 'host=one.lan\nhost=two.lan' } })).toEqual([
      '--trust host=three.lan',
    ]);
  });

  it('need no permission if the base lock has their keys and the lock pins no other keys', async () => {
    const lock = pinned(first, 'one.lan', 'two.lan');
    expect(await asked(lock, { base: pinned(first, 'one.lan', 'two.lan', 'three.lan') })).toEqual([
      '--trust host=three.lan',
    ]);
    expect(await asked(pinned(second, 'one.lan'), { base: pinned(first, 'one.lan') })).toEqual([
      '--trust host=one.lan --trust host=three.lan --trust host=two.lan',
    ]);
    const all = pinned(first, 'one.lan', 'two.lan', 'three.lan');
    expect(await asked(all, { base: all })).toBe(3);
  });
});
