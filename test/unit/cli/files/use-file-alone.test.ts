import { existsSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { useFileAlone } from '../../../../src/cli/files/write-file.ts';
import { skipSleeps } from '../../../fake-clock.ts';
import { temporaryFolder } from '../../../temporary-folder.ts';

const { at } = temporaryFolder();
const path = at('cluster.lock');
const markPath = `${path}.held`;

describe('exclusive access to a file', () => {
  it('ends when the work is done or fails', async () => {
    expect(await useFileAlone(path, () => readFileSync(markPath, 'utf8').length)).toBeGreaterThan(0);
    await expect(
      useFileAlone(path, () => {
        throw new Error('no');
      }),
    ).rejects.toThrow('no');
    expect(existsSync(markPath)).toBe(false);
  });

  it('makes the next writer wait until it ends', async () => {
    writeFileSync(markPath, 'another process');
    const slept = skipSleeps(() => void (slept.length === 3 && rmSync(markPath)));
    expect(await useFileAlone(path, () => [...slept])).toEqual([20, 20, 20]);
  });

  it('expires ten seconds after its last renewal, and others wait at most 15 seconds', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: 1e12 + 980 });
    onTestFinished(() => void vi.useRealTimers());
    const touch = (atMs: number): void => utimesSync(markPath, atMs / 1_000, atMs / 1_000);
    writeFileSync(markPath, 'a process that died');
    touch(1e12 - 9_000);
    const slept = skipSleeps((ms) => void vi.setSystemTime(Date.now() + ms));
    expect([await useFileAlone(path, () => slept.length), existsSync(markPath)]).toEqual([2, false]);
    writeFileSync(markPath, 'another process');
    touch(Date.now());
    const renewed = skipSleeps((ms) =>
      touch(
        vi
          .setSystemTime(Date.now() + ms)
          .getMockedSystemTime()
          ?.valueOf() ?? 0,
      ),
    );
    await expect(useFileAlone(path, () => 'x')).rejects.toThrow(`another meshwright process is using it (${markPath})`);
    expect([renewed.length, readFileSync(markPath, 'utf8')]).toEqual([751, 'another process']);
    rmSync(markPath);
  });

  it('fails in a missing folder', async () => {
    await expect(useFileAlone(at('none/cluster.lock'), () => 'x')).rejects.toMatchObject({
      diagnostics: [{ code: 'cli/cannot-write' }],
    });
  });
});
