import { describe, expect, it } from 'vitest';
import { emptyLock } from '../../../../src/config/lock.ts';
import { withRuntimeOf } from '../../../../src/desired/settle/settle.ts';
import { settleRuntime as settleRuntimeItself } from '../../../../src/desired/settle/settle-runtime.ts';
import type { RuntimeSource } from '../../../../src/model/desired.ts';
import { digest } from '../../../../src/model/digest.ts';
import { onOnePage, onPage } from '../../one-page.ts';

const settleRuntime = onPage(settleRuntimeItself);

const sha = (letter: string) => digest(letter.repeat(64));
const runtime: RuntimeSource = { name: 'ref', archive: 'dist/ref.tar.gz', extras: [] };
const locked = { sha256: sha('a'), sizeBytes: 5 };
const lock = {
  ...emptyLock('cluster.lock'),
  runtimes: { ref: locked },
  rolledBack: { ref: { to: sha('e'), from: sha('a') } },
};

/** The runtime with an archive of this digest on this machine. Without a digest, the archive was not read. */
const settled = (letter?: string) =>
  settleRuntime(runtime, {
    lock,
    baseFolder: '/rack',
    sources: {
      folders: {},
      archives: letter === undefined ? {} : { ref: { kind: 'known', sha256: sha(letter), sizeBytes: 5 } },
    },
  });

describe('a rolled-back runtime', () => {
  it.each([['a'], [undefined]])('keeps the older version while its archive is unchanged (%s)', (letter) => {
    const { wanted, rolledBack, additions } = settled(letter);
    expect(wanted).toMatchObject({ sha256: sha('a'), digest: sha('e'), rolledBackFrom: sha('a') });
    expect([rolledBack, additions]).toEqual([lock.rolledBack.ref, []]);
  });

  it('uses its archive again once the archive changes, and the change is reported', () => {
    const { wanted, rolledBack, additions } = settled('b');
    expect(wanted).toMatchObject({ sha256: sha('b'), digest: sha('b') });
    expect([wanted.rolledBackFrom, rolledBack]).toEqual([undefined, undefined]);
    expect(additions.at(-1)).toBe(
      'runtime ref: no longer rolled back to version eeeeeeeeeeeeeeee, because its archive changed',
    );
  });
});

describe('the lock of one runtime', () => {
  it('takes the entries of that runtime from another lock, and leaves those of others', () => {
    const other = { sha256: sha('c'), sizeBytes: 7 };
    const before = {
      ...lock,
      runtimes: { ref: locked, mlx: locked },
      runtimeFiles: { 'ref/x': locked, 'refs/x': locked },
    };
    const now = { ...emptyLock('cluster.lock'), runtimes: { ref: other }, runtimeFiles: { 'ref/y': other } };
    expect(withRuntimeOf(before, now, 'ref')).toEqual({
      ...emptyLock('cluster.lock'),
      runtimes: { ref: other, mlx: locked },
      runtimeFiles: { 'ref/y': other, 'refs/x': locked },
    });
  });
});

onOnePage('settle-rolled-back');
