import { mkdir, readdir, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { sharedLowerRoot } from '../contract/lower-root.ts';
import { freshFolder, removeFolder } from '../rack/running.ts';

const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await removeFolder(folder);
});

async function newFolder(): Promise<string> {
  const folder = await freshFolder();
  folders.push(folder);
  return folder;
}

/** Creates a complete or partial tree that was last used this many hours ago. */
async function leave(folder: string, name: string, hours: number): Promise<void> {
  await mkdir(join(folder, name, 'bin'), { recursive: true });
  const then = new Date(Date.now() - hours * 3_600_000);
  await utimes(join(folder, name), then, then);
}

it('the shared lower root is built once for all fleets, and each use is recorded', async () => {
  const folder = await newFolder();
  const [one, other] = await Promise.all([sharedLowerRoot(folder), sharedLowerRoot(folder)]);
  expect(other).toBe(one);
  expect((await readdir(folder)).map((name) => join(folder, name))).toEqual([one]);
  expect(await readdir(join(one, 'bin'))).toContain('sh');
  const { ino } = await stat(one);
  const longAgo = new Date(0);
  await utimes(one, longAgo, longAgo);
  expect(await sharedLowerRoot(folder)).toBe(one);
  const { ino: later, mtimeMs } = await stat(one);
  expect(later).toBe(ino);
  expect(mtimeMs).toBeGreaterThan(0);
});

it("the shared lower root keeps recently used trees and other processes' unfinished work", async () => {
  const folder = await newFolder();
  const kept = ['0123456789abcdef', 'new-young', 'old-young'];
  await leave(folder, '0123456789abcdef', 23);
  await leave(folder, 'fedcba9876543210', 25);
  for (const kind of ['new', 'old']) {
    await leave(folder, `${kind}-young`, 0);
    await leave(folder, `${kind}-killed`, 2);
  }
  const one = await sharedLowerRoot(folder);
  expect((await readdir(folder)).map((name) => join(folder, name)).toSorted()).toEqual(
    [one, ...kept.map((name) => join(folder, name))].toSorted(),
  );
});
