import { existsSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { useFileAlone } from '../../../../src/cli/files/write-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'meshwright-alone-'));
const path = join(folder, 'cluster.lock');
const markPath = `${path}.held`;
afterAll(() => rmSync(folder, { recursive: true, force: true }));

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
    let isDone = false;
    const later = useFileAlone(path, () => {
      isDone = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect([isDone, readFileSync(markPath, 'utf8')]).toEqual([false, 'another process']);
    rmSync(markPath);
    await later;
    expect(isDone).toBe(true);
  });

  it('is ignored if it was left behind long ago', async () => {
    writeFileSync(markPath, 'a process that died');
    utimesSync(markPath, new Date(), new Date(Date.now() - 60_000));
    expect(await useFileAlone(path, () => 'done')).toBe('done');
    expect(existsSync(markPath)).toBe(false);
  });

  it('fails in a missing folder', async () => {
    await expect(useFileAlone(join(folder, 'none', 'cluster.lock'), () => 'x')).rejects.toMatchObject({
      diagnostics: [{ code: 'cli/cannot-write' }],
    });
  });
});
