import { readFileSync, rmSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { createLockKeeper } from '../../../../src/cli/cluster/open-cluster.ts';
import { emptyLock } from '../../../../src/config/lock.ts';
import { makeKey } from '../../../sshd/start-sshd.ts';
import { temporaryFolder } from '../../../temporary-folder.ts';

const { path: folder, at } = temporaryFolder();
const path = at('cluster.lock');
const [key, other] = [makeKey(folder, 'a'), makeKey(folder, 'b')];
const keeper = () => createLockKeeper({ path, shown: 'cluster.lock', lock: emptyLock('cluster.lock') });
const text = (): string => readFileSync(path, 'utf8');
afterEach(() => rmSync(path, { force: true }));

describe('the lock keeper', () => {
  it('keeps the pins of other runs that write the same file', async () => {
    const names = Array.from({ length: 12 }, (_, at) => `studio-${at}.lan`);
    await Promise.all(names.map((name) => keeper().pin(name, key, false)));
    expect(names.filter((name) => !text().includes(`"${name}":`))).toEqual([]);
  });

  it('refuses to pin a name whose pins have changed since the keeper was created', async () => {
    const [mine, theirs] = [keeper(), keeper()];
    await theirs.pin('studio-1.lan', other, false);
    const before = text();
    await expect(mine.pin('studio-1.lan', key, true)).rejects.toMatchObject({
      diagnostics: [{ code: 'enroll/pins-changed' }],
    });
    expect(text()).toBe(before);
  });

  it('drops the preboot keys of a replaced pin, but not those of other names', async () => {
    const mine = keeper();
    for (const name of ['a.lan', 'b.lan']) {
      await mine.pin(name, key, false);
      await mine.pinPreboot(name, key, false);
    }
    await mine.pin('a.lan', other, true);
    expect([mine.prebootPins('a.lan'), mine.prebootPins('b.lan').length]).toEqual([[], 1]);
    await mine.pinPreboot('b.lan', other, true);
    expect(mine.prebootPins('b.lan').map(({ base64 }) => base64)).toEqual([other.base64]);
    await mine.forgetPreboot('b.lan');
    expect(text()).not.toContain('prebootKeys');
  });

  it('accepts that another run has pinned the same key', async () => {
    const [mine, theirs] = [keeper(), keeper()];
    await theirs.pin('studio-1.lan', key, false);
    await mine.pin('studio-1.lan', key, false);
    expect(mine.pins('studio-1.lan').map((one) => one.base64)).toEqual([key.base64]);
  });
});
