import { execFileSync } from 'node:child_process';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import ssh2 from 'ssh2';
import { describe, expect, it } from 'vitest';
import { createKeyText, loadOrCreateKey } from '../../../../../src/sim/hosts/ssh/host-keys.ts';
import { sharedFolder } from '../../../../rack/kept-running.ts';

const folder = sharedFolder('mw-keys-');

describe("a simulated fleet's SSH key", () => {
  it('can always be parsed by ssh2 and can sign', () => {
    for (let round = 0; round < 300; round += 1) {
      const { privateText, publicText } = createKeyText('simulated');
      const [whole, open] = [ssh2.utils.parseKey(privateText), ssh2.utils.parseKey(publicText)];
      if (whole instanceof Error || open instanceof Error) throw new Error('the key cannot be parsed');
      expect(`${whole.type} ${whole.getPublicSSH().toString('base64')}`).toBe(publicText);
      const signature = whole.sign(Buffer.from('data'));
      if (signature instanceof Error) throw signature;
      expect(open.verify(Buffer.from('data'), signature)).toBe(true);
    }
  });

  it('can be read by ssh-keygen', async () => {
    const key = await loadOrCreateKey(join(folder, 'deep', 'a-key'), 'simulated studio-1');
    const shown = execFileSync('ssh-keygen', ['-y', '-f', key.path], { encoding: 'utf8' });
    expect(shown.trim()).toBe(`${key.publicText} simulated studio-1`);
    expect((await stat(key.path)).mode & 0o777).toBe(0o600);
  });

  it('is kept, and replaced only if unreadable', async () => {
    const path = join(folder, 'kept');
    const first = await loadOrCreateKey(path, 'simulated');
    expect(await loadOrCreateKey(path, 'simulated')).toEqual(first);
    await writeFile(path, 'garbage');
    const second = await loadOrCreateKey(path, 'simulated');
    expect(second.publicText).not.toBe(first.publicText);
    expect(await readFile(path, 'utf8')).toBe(second.privateText);
  });
});
