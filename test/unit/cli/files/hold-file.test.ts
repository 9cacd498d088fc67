import { existsSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { holdFile } from '../../../../src/cli/files/write-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'meshwright-hold-'));
const path = join(folder, 'cluster.lock');
const held = `${path}.held`;
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('exclusive access to a file', () => {
  it('ends when the work is done, and when it fails', async () => {
    expect(await holdFile(path, () => readFileSync(held, 'utf8').length)).toBeGreaterThan(0);
    await expect(
      holdFile(path, () => {
        throw new Error('no');
      }),
    ).rejects.toThrow('no');
    expect(existsSync(held)).toBe(false);
  });

  it('makes the next writer wait until it ends', async () => {
    writeFileSync(held, 'another process');
    let isDone = false;
    const later = holdFile(path, () => {
      isDone = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect([isDone, readFileSync(held, 'utf8')]).toEqual([false, 'another process']);
    rmSync(held);
    await later;
    expect(isDone).toBe(true);
  });

  it('is ignored if it was left behind long ago', async () => {
    writeFileSync(held, 'a process that died');
    utimesSync(held, new Date(), new Date(Date.now() - 60_000));
    expect(await holdFile(path, () => 'done')).toBe('done');
    expect(existsSync(held)).toBe(false);
  });

  it('fails in a missing folder', async () => {
    await expect(holdFile(join(folder, 'none', 'cluster.lock'), () => 'x')).rejects.toMatchObject({
      diagnostics: [{ code: 'cli/cannot-write' }],
    });
  });
});
