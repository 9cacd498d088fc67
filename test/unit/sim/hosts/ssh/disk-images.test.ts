import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createNodeRoot } from '../../../../../src/sim/hosts/node-root.ts';
import { execEnvironment, homeOf } from '../../../../../src/sim/hosts/ssh/ssh-user.ts';

let folder = '';
let root = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mw-images-'));
  root = join(folder, 'node');
  const node = await createNodeRoot({ root, user: 'mesh', userKey: 'ssh-ed25519 AAAA' });
  await node.update([{ path: '/.sim/sudo', text: 'allowed\n', isExecutable: false }]);
});
afterAll(() => rm(folder, { recursive: true, force: true }));
beforeEach(() => writeFile(join(root, '.sim/unknown'), ''));

/** Runs a script like a command over SSH; returns its output and the commands recorded as unknown. */
async function sh(script: string) {
  const env = { ...execEnvironment({ root, user: 'mesh', mark: 'test.node' }), R: root };
  const ran = spawnSync('/bin/sh', ['-c', script], {
    cwd: homeOf(root, 'mesh'),
    env,
    encoding: 'utf8',
    timeout: 120_000,
  });
  const unknown = (await readFile(join(root, '.sim/unknown'), 'utf8')).trimEnd();
  return { code: ran.status, out: ran.stdout, err: ran.stderr, unknown };
}

describe("a simulated node's disk images", () => {
  const attach = 'hdiutil attach -nobrowse -readonly -noautoopen -mountpoint';

  it('can be attached at a folder, copied from and detached', async () => {
    const ran = await sh(`mkdir -p tree/EXO.app/bin image copy; printf x >tree/EXO.app/bin/exo
tar -czf exo.dmg -C tree EXO.app; ${attach} image exo.dmg | cut -f 3
ditto image/EXO.app copy/EXO.app; hdiutil detach image -force; find copy image -type f; hdiutil detach image -force`);
    expect(ran).toEqual({
      code: 1,
      out: '\nimage\n"disk4" ejected.\ncopy/EXO.app/bin/exo\n',
      err: 'hdiutil: detach failed - No such file or directory\n',
      unknown: '',
    });
  });

  it('are rejected if invalid or with other options', async () => {
    expect(await sh(`mkdir -p there; printf x >no.dmg; ${attach} there no.dmg`)).toMatchObject({
      code: 1,
      err: 'hdiutil: attach failed - image not recognized\n',
    });
    expect((await sh('hdiutil attach exo.dmg')).unknown).toBe('/usr/bin/hdiutil 2:attach exo.dmg');
    expect((await sh('hdiutil info')).unknown).toContain('/usr/bin/hdiutil 1:info');
    expect((await sh('ditto -x -k a b')).unknown).toContain('/usr/bin/ditto 4:-x -k a b');
    expect(await sh('ditto nothing target')).toMatchObject({ code: 1, unknown: expect.anything() });
  });
});
