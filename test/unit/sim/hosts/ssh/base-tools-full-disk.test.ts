import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createNodeRoot } from '../../../../../src/sim/hosts/node-root.ts';
import { execEnvironment, homeOf } from '../../../../../src/sim/hosts/ssh/ssh-user.ts';

let folder = '';
let root = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mw-full-'));
  root = join(folder, 'node');
  const userKey = 'ssh-ed25519 AAAA';
  const node = await createNodeRoot({ root, user: 'mesh', userKey });
  await node.update([]);
  await writeFile(join(homeOf(root, 'mesh'), 'big'), 'x'.repeat(5_000));
  await writeFile(join(homeOf(root, 'mesh'), 'small'), 'x'.repeat(100));
  sh('tar -czf big.tgz big; tar -czf small.tgz small');
  await writeFile(join(root, '.sim/room'), '2048\n');
});
afterAll(() => rm(folder, { recursive: true, force: true }));

function sh(script: string) {
  const ran = spawnSync('/bin/sh', ['-c', script], {
    cwd: homeOf(root, 'mesh'),
    env: { ...execEnvironment({ root, user: 'mesh', mark: 'test.node' }), R: root },
    encoding: 'utf8',
  });
  return { code: ran.status, out: ran.stdout, err: ran.stderr };
}
const sizeOf = async (name: string): Promise<number> => (await stat(join(homeOf(root, 'mesh'), name))).size;

describe("a simulated node's full disk", () => {
  it.each([
    ['cp big copied', 'cp: copied: No space left on device'],
    ['cat big >joined', 'cat: stdout: No space left on device'],
    ['head -c 4000 big >cut', 'No space left on device'],
    ['tail -c 4000 big >rest', 'No space left on device'],
    ['cat big | tee teed >"$R/dev/null" 2>&1; cat big >>teed', 'No space left on device'],
    ['mkdir t; tar -xf big.tgz -C t', 'big: Write failed: No space left on device'],
  ])('makes this command fail: %s', (script, complaint) => {
    const ran = sh(`mkdir -p "$R/dev"; ${script}`);
    expect(ran.code).not.toBe(0);
    expect(ran.err).toContain(complaint);
  });

  it('keeps the bytes that fit', async () => {
    sh('cp big partly');
    expect(await sizeOf('partly')).toBe(2_048);
  });

  it('permits small files and data in pipes', async () => {
    const ran = sh('cp small s1 && cat small >s2 && mkdir u && tar -xf small.tgz -C u && cat big | wc -c');
    expect(ran).toEqual({ code: 0, out: '    5000\n', err: '' });
    expect(await sizeOf('s1')).toBe(100);
  });
});
