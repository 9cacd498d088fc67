import { mkdir, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { sharedLowerRoot } from '../contract/lower-root.ts';
import { freshFolder, removeFolder } from '../scenarios/sim-fixture.ts';

const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await removeFolder(folder);
});

it('is built once for all fleets, by whoever comes first, and that of other programs goes', async () => {
  const folder = await freshFolder();
  folders.push(folder);
  await mkdir(join(folder, '0123456789abcdef', 'bin'), { recursive: true });
  const [one, other] = await Promise.all([sharedLowerRoot(folder), sharedLowerRoot(folder)]);
  expect(other).toBe(one);
  expect((await readdir(folder)).map((name) => join(folder, name))).toEqual([one]);
  expect(await readdir(join(one, 'bin'))).toContain('sh');
  const { ino } = await stat(one);
  expect(await sharedLowerRoot(folder)).toBe(one);
  expect((await stat(one)).ino).toBe(ino);
});
