import { describe, expect, it } from 'vitest';
import { emptyLock } from '../../../../src/config/lock.ts';
import { renderLock } from '../../../../src/config/lock-text.ts';
import { resolveRuntimes } from '../../../../src/desired/resolve.ts';
import {
  keysOf,
  lockedKeys,
  parseKeys,
  settleRuntime,
  versionNames,
  withVersionKeys,
} from '../../../../src/desired/settle/settle-runtime.ts';
import { keysByDriver } from '../../../../src/drivers/registry.ts';
import { parseLock } from '../../../../src/engine/load-cluster.ts';
import type { ClusterLock } from '../../../../src/model/cluster-lock.ts';
import type { ClusterSpec } from '../../../../src/model/cluster-spec.generated.ts';
import type { DesiredRuntime } from '../../../../src/model/desired.ts';
import { digest, digestOf, shortDigest } from '../../../../src/model/digest.ts';

const archive = './x.tar.gz';
const specs: ClusterSpec['runtimes'] = {
  any: { driver: 'command', archive, command: ['{runtime}/bin/rank', "it's", '{rank}'], token: { path: '/ask' } },
  exo: { driver: 'exo', archive, version: '1.0.71', program: 'exo-1/exo' },
  llama: { driver: 'llamacpp-rpc', archive, server: 'llama-b1/llama-server', cache: 'verified' },
  mlx: { driver: 'mlx', archive, python: '3.12', requirements: './requirements.lock' },
};
const runtimes = resolveRuntimes({ runtimes: specs } as ClusterSpec, keysByDriver).map(
  (one): DesiredRuntime => (one.driver === 'mlx' ? { ...one, packages: { mlx: '0.32.0', 'mlx-lm': '0.31.3' } } : one),
);
const exo = runtimes.find((one) => one.driver === 'exo');
if (exo === undefined) throw new Error('the fleet has no exo runtime');
const [older, newer] = [digestOf('older'), digestOf('newer')];
const oldExo: DesiredRuntime = { ...exo, digest: older };
const newExo = { ...exo, digest: newer, version: '1.0.72', dialect: 'main', program: 'exo-2/exo' };
const lockAfter = (...applied: readonly DesiredRuntime[]): Pick<ClusterLock, 'runtimeKeys'> =>
  applied.reduce<Pick<ClusterLock, 'runtimeKeys'>>(
    (lock, one) => ({ runtimeKeys: { exo: lockedKeys(one, lock, keysByDriver) } }),
    {},
  );

describe("a version's keys in the lock", () => {
  it.each(runtimes.map((one) => [one.driver, one] as const))('are read back as they were written for %s', (_, one) => {
    const runtimeKeys = { [one.name]: lockedKeys({ ...one, digest: older }, {}, keysByDriver) };
    const text = renderLock({ ...emptyLock('cluster.lock'), runtimeKeys });
    const { lock, diagnostics } = parseLock(text, 'cluster.lock');
    expect(diagnostics).toEqual([]);
    const { packages: _packages, ...plain } = { packages: undefined, ...keysOf(one, keysByDriver) };
    expect(lock?.runtimeKeys?.[one.name]).toMatchObject([{ of: older, keys: plain }]);
    expect(renderLock(lock ?? emptyLock('x'))).toBe(text);
  });

  it.each(['', '[]', '{"driver":"exo"}', '{"driver":"exo","version":"1","program":"../exo"}', '{"driver":"x"}'])(
    'are undefined for the text %s',
    (text) => {
      expect(parseKeys(text, keysByDriver)).toBeUndefined();
    },
  );

  it('cover the last three versions, each with its newest keys', () => {
    const more = ['c', 'd'].map((letter): DesiredRuntime => ({ ...exo, digest: digest(letter.repeat(64)) }));
    const olderExo = { ...oldExo, version: '1.0.70' };
    const kept = lockAfter(oldExo, newExo, ...more, olderExo).runtimeKeys?.['exo'] ?? [];
    expect(kept.map(({ of }) => of.slice(0, 2))).toEqual(['cc', 'dd', older.slice(0, 2)]);
    expect(kept.at(-1)?.keys).toMatchObject({ version: '1.0.70' });
  });

  it('keep the mlx-lm version if the requirements are not read', () => {
    const mlx = runtimes.find((one) => one.driver === 'mlx');
    if (mlx === undefined) throw new Error('the fleet has no mlx runtime');
    const { packages: _, ...unread } = { ...mlx, digest: older };
    const lock = { runtimeKeys: { mlx: lockedKeys({ ...mlx, digest: older }, {}, keysByDriver) } };
    expect(lockedKeys(unread, lock, keysByDriver)).toEqual(lock.runtimeKeys.mlx);
    expect(lock.runtimeKeys.mlx[0]?.keys).toMatchObject({ packages: { 'mlx-lm': '0.31.3' } });
  });
});

describe("a version's name", () => {
  const names = (one: DesiredRuntime | undefined) =>
    versionNames(one === undefined ? [] : lockedKeys({ ...one, digest: older }, {}, keysByDriver));
  const releases: ClusterSpec['runtimes'] = { llama: { driver: 'llamacpp-rpc', version: 'b10950' } };
  const llama = resolveRuntimes({ runtimes: releases } as ClusterSpec, keysByDriver);

  it('is the release for exo, llama.cpp and mlx-lm', () => {
    const found = [oldExo, llama[0], runtimes.find((one) => one.driver === 'mlx')].map(names);
    expect(found.map((one) => one[shortDigest(older)])).toEqual(['1.0.71', 'b10950', '0.31.3']);
    expect(names(runtimes.find((one) => one.driver === 'command'))).toEqual({});
  });

  it('comes before the digests in the list of lock changes', () => {
    const lock = {
      ...emptyLock('cluster.lock'),
      ...lockAfter(oldExo),
      runtimes: { exo: { sha256: older, sizeBytes: 5 } },
    };
    const archives = { exo: { kind: 'known', sha256: newer, sizeBytes: 6 } } as const;
    const { additions } = settleRuntime(newExo, { lock, baseFolder: '/rack', sources: { folders: {}, archives } });
    expect(additions).toEqual([
      `runtime exo: 1.0.71 -> 1.0.72, sha256 ${shortDigest(newer)} instead of ${shortDigest(older)}`,
    ]);
  });
});

describe('a rolled-back runtime', () => {
  const back: DesiredRuntime = { ...newExo, digest: older, rolledBackFrom: newer };

  it("has the older version's program and dialect", () => {
    expect(withVersionKeys(back, lockAfter(oldExo, newExo))).toEqual({ ...oldExo, rolledBackFrom: newer });
  });

  it("has the file's keys, with a mark, if the lock has none", () => {
    expect(withVersionKeys(back, lockAfter(newExo))).toEqual({ ...back, hasFileKeys: true });
  });

  it("records the file's keys for its archive's version", () => {
    expect(lockAfter(oldExo, back).runtimeKeys?.['exo']).toEqual(lockAfter(oldExo, newExo).runtimeKeys?.['exo']);
  });
});
