import { chmodSync, lstatSync, mkdirSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { scriptBody } from '../../../../src/engine/scripts/registry.ts';
import { peersFolder } from '../../../../src/node/paths/own-paths.ts';
import { sh } from '../../../../src/rack/artifacts/peers/scripts.generated.ts';
import { makeKeyPair } from '../../../../src/remote/keys/exchange-key.ts';
import { loadSsh2 } from '../../../../src/remote/ssh2.ts';
import { type MacRoot, makeMacRoot } from './mac-root.ts';
import { removedAfter } from './node-root.ts';
import { exampleModel } from './script-examples.ts';
import { type Shell, scriptShells } from './shells.ts';

const newRoot = removedAfter(makeMacRoot);
const keys = 'Users/mesh/.ssh/authorized_keys';
const peers = peersFolder(exampleModel).path.slice(1);
const mark = `meshwright-exchange-${peers.split('/').at(-1)}`;
const theirs = 'ssh-ed25519 AAAA ana@desk\n# a line without an end';

/** Runs the functions on a Mac with the folder of an exchange. */
async function run(root: MacRoot, script: string): Promise<void> {
  mkdirSync(join(root.folder, peers), { recursive: true });
  const { result } = await root.runBody(
    `${sh.exchangeKeys({})}\nHOME="$R/Users/mesh" p="$R/${peers}"\n${script}\nchanged`,
  );
  expect(result.kind).toBe('done');
}

const grant = (key: string): string => `grant "$p" 14567 '${key}'`;

describe.each(scriptShells)('the key of an exchange, with $name,', (shell: Shell) => {
  it('gets a single authorized_keys line for one command, which expires after two days', async () => {
    const root = newRoot(shell);
    root.file(keys, theirs);
    chmodSync(join(root.folder, keys), 0o640);
    await run(root, `${grant('ssh-ed25519 BBBB')}\n${grant('ssh-ed25519 CCCC')}`);
    const [first, second, own = '', end] = root.read(keys).split('\n');
    expect([`${first}\n${second}`, end]).toEqual([theirs, '']);
    const folder = join(root.folder, peers);
    const command = `restrict,command="'${root.folder}/usr/bin/perl' '${folder}/tunnel.pl' 14567"`;
    expect(own.startsWith(`${command},expiry-time="`)).toBe(true);
    expect(own).toMatch(new RegExp(`" ssh-ed25519 CCCC ${mark}$`));
    const [, year, month, day, hour, minute] = /"(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)"/.exec(own) ?? [];
    const endsAt = new Date(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute)).getTime();
    expect(Math.abs(endsAt - Date.now() - 172_800_000)).toBeLessThan(120_000);
    expect(statSync(join(root.folder, keys)).mode & 0o777).toBe(0o640);
  });

  it('loses its authorized_keys line, while the other lines are kept', async () => {
    const root = newRoot(shell);
    root.file(keys, `${theirs}\n`);
    await run(root, `${grant('ssh-ed25519 BBBB')}\nrevoke "$p"\nrevoke "$p"`);
    expect(root.read(keys)).toBe(`${theirs}\n`);
    expect(root.has(`${peers}/granted`)).toBe(false);
  });

  it('does not change a missing file, or a link', async () => {
    const root = newRoot(shell);
    root.file('Users/mesh/.ssh/other', theirs);
    await run(root, grant('ssh-ed25519 BBBB'));
    expect(root.has(keys)).toBe(false);
    symlinkSync('other', join(root.folder, keys));
    await run(root, `${grant('ssh-ed25519 BBBB')}\nrevoke "$p"`);
    expect(lstatSync(join(root.folder, keys)).isSymbolicLink()).toBe(true);
    expect(root.read(keys)).toBe(theirs);
  });

  it('loses its authorized_keys line when the remains of a killed job are removed', async () => {
    const root = newRoot(shell);
    root.file(keys, theirs);
    await run(root, grant('ssh-ed25519 BBBB'));
    await root.runBody(scriptBody({ name: 'clear-staging', args: { folders: [], jobs: [] } }));
    expect(root.read(keys)).toBe(`${theirs}\n`);
  });
});

describe('makeKeyPair', () => {
  it('makes keys that SSH clients and servers can read', async () => {
    const { utils } = await loadSsh2();
    const { privateKey, publicKey } = makeKeyPair();
    const [own, open] = [utils.parseKey(privateKey), utils.parseKey(publicKey)];
    if (own instanceof Error || open instanceof Error) throw new Error('not a key');
    expect(own.getPublicSSH().equals(open.getPublicSSH())).toBe(true);
    expect(open.verify(Buffer.from('text'), own.sign(Buffer.from('text')) as Buffer)).toBe(true);
  });
});
