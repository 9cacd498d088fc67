import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { lstatSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { mutatingScript } from '../../../../src/node/root-script.ts';
import { withdrawBody } from '../../../../src/node/withdraw.ts';
import { sh } from '../../../../src/rack/artifacts/peers/scripts.generated.ts';
import { changed, type MacRoot, makeMacRoot, ours, run, unchanged } from './mac-root.ts';
import { removedAfter } from './node-root.ts';
import { exampleFence } from './script-examples.ts';
import { scriptShells } from './shells.ts';

const newMac = removedAfter(makeMacRoot);
const keeper = 'dev.meshwright.keeper';
const keys = 'Users/mesh/.ssh/authorized_keys';
const dropIn = 'etc/sudoers.d/meshwright';

/** A launchd made of files: a service is loaded while `loaded/LABEL` exists. */
const launchctl = `case $1 in
(print) [ -e "$R/../loaded/\${2#system/}" ] && { printf '%s = {\\n\\tstate = waiting\\n}\\n' "$2"; exit 0; }
  printf 'Could not find service "%s" in domain for system\\n' "\${2#system/}" >&2; exit 113 ;;
(bootout) rm -f "$R/../loaded/\${2#system/}" ;;
(enable) ;;
(bootstrap) x=\${3##*/}; : >"$R/../loaded/\${x%.plist}" ;;
(*) exit 64 ;;
esac`;

function newRoot(shell: (typeof scriptShells)[number]): MacRoot {
  const root = newMac(shell);
  root.recorded('bin/launchctl', launchctl);
  mkdirSync(join(root.folder, '../loaded'));
  return root;
}

/** The very last script, as the account mesh would send it through sudo. */
const withdraw = (root: MacRoot) => {
  const script = mutatingScript({
    rootPrefix: root.folder,
    fence: exampleFence,
    note: { step: 'studio-1/uninstall/withdraw', verb: 'uninstall', by: 'ana@desk', config: 'cafe' },
    isLast: true,
    body: withdrawBody(),
  });
  const home = join(root.folder, 'Users/mesh').replaceAll("'", "'\\''");
  return root.run(`HOME='${home}'\nexport HOME\n${script}`);
};

describe.each(scriptShells)('uninstall scripts in $name', (shell) => {
  describe('clear-node', () => {
    it('removes services, runtimes and partial files, and keeps models', async () => {
      const root = newRoot(shell);
      root.file(`../loaded/${keeper}`, '');
      root.file(`Library/LaunchDaemons/${keeper}.plist`, '');
      root.file('Library/LaunchDaemons/com.example.other.plist', '');
      root.file('opt/meshwright/models/tiny/0123456789abcdef/config.json', '{}');
      root.file('opt/meshwright/runtimes/reference/0123456789abcdef/bin/rank', '');
      root.file('opt/meshwright/staging/.removed-7-x/a', '');
      symlinkSync('nowhere', join(root.folder, 'opt/meshwright/.odd'));
      root.file('opt/other/a', '');
      const call = { name: 'clear-node', args: { labels: [keeper], models: false } } as const;
      expect(await run(root, call)).toEqual(changed);
      expect(root.tree().filter((line) => /^(?:opt|Library\/LaunchDaemons)\S*[^/] /.test(line))).toEqual([
        expect.stringContaining('com.example.other.plist'),
        expect.stringContaining('opt/meshwright/models/tiny/0123456789abcdef/config.json'),
        expect.stringContaining('opt/other/a'),
      ]);
      expect(await run(root, call)).toEqual(unchanged);
    });

    it('keeps models that meshwright did not install', async () => {
      const root = newRoot(shell);
      root.file('opt/meshwright/models/tiny/0123456789abcdef/config.json', '{}');
      root.file('opt/meshwright/models/tiny/notes/a', '');
      root.file('opt/meshwright/models/mine/weights.bin', '');
      const call = { name: 'clear-node', args: { labels: [], models: true } } as const;
      expect(await run(root, call)).toEqual(changed);
      expect(root.has('opt/meshwright/models/tiny/0123456789abcdef')).toBe(false);
      expect(root.has('opt/meshwright/models/tiny/notes/a')).toBe(true);
      expect(root.has('opt/meshwright/models/mine/weights.bin')).toBe(true);
      expect(await run(root, call)).toEqual(unchanged);
    });

    it('stops running jobs', async () => {
      const root = newRoot(shell);
      const key = 'c'.repeat(64);
      const job = spawn('/bin/sleep', ['60'], { stdio: 'ignore' });
      const ended = once(job, 'exit');
      root.tool('bin/ps', `kill -0 "$5" 2>/dev/null && printf '/bin/sh /x/${key}/run\\n'`);
      root.file(`${ours}/ops/${key}/pid`, `${job.pid}\n`);
      root.file(`${ours}/ops/${key}/job`, 'name=verify-model\n');
      expect(await run(root, { name: 'clear-node', args: { labels: [], models: false } })).toEqual(changed);
      expect(await ended).toEqual([null, 'SIGTERM']);
    });

    it("stops a job's child processes", async () => {
      const root = newRoot(shell);
      const key = 'd'.repeat(64);
      const [job, child, grandchild] = [1, 2, 3].map(() => spawn('/bin/sleep', ['60'], { stdio: 'ignore' }));
      const ended = Promise.all([job, child, grandchild].map((one) => once(one as ChildProcess, 'exit')));
      const family = `printf '%s 1\\n%s %s\\n%s %s\\n' ${job?.pid} ${child?.pid} ${job?.pid} ${grandchild?.pid} ${child?.pid}`;
      const command = `kill -0 "$5" 2>/dev/null && printf '/bin/sh /x/${key}/run\\n'`;
      root.tool('bin/ps', `case $1 in (-ax) ${family} ;; (*) ${command} ;; esac`);
      root.file(`${ours}/ops/${key}/pid`, `${job?.pid}\n`);
      root.file(`${ours}/ops/${key}/job`, 'name=fetch-model\n');
      expect(await run(root, { name: 'clear-node', args: { labels: [], models: false } })).toEqual(changed);
      expect(await ended).toEqual([
        [null, 'SIGTERM'],
        [null, 'SIGTERM'],
        [null, 'SIGTERM'],
      ]);
    });
  });

  describe('restore-value', () => {
    const call = { name: 'restore-value', args: { key: 'wired-limit' } } as const;

    it('restores the baseline value only if it differs', async () => {
      const root = newRoot(shell);
      root.file(`${ours}/baseline/wired-limit`, '4096\n');
      expect(await run(root, call)).toEqual(changed);
      expect(root.read('../wired')).toBe('4096\n');
      expect(await run(root, call)).toEqual(unchanged);
    });

    it('fails if the baseline has no value', async () => {
      const root = newRoot(shell);
      root.file(`${ours}/baseline/wired-limit`, '');
      expect(await run(root, call)).toMatchObject({ kind: 'failed', slug: 'no-baseline' });
    });

    it('passes only valid settings to the tool', async () => {
      const root = newRoot(shell);
      root.file(`${ours}/baseline/power`, 'sleep 1; rm -rf x\n');
      root.recorded('usr/bin/pmset', "printf 'AC Power:\\n sleep 0\\n'");
      const result = await run(root, { name: 'restore-value', args: { key: 'power' } });
      expect(result).toMatchObject({ kind: 'failed', slug: 'restore' });
      expect(root.calls().filter((line) => line.includes('-a'))).toEqual([]);
    });
  });

  describe('withdraw-node', () => {
    it('removes its folder, lease, sudo rule and keys, and keeps other keys', async () => {
      const root = newRoot(shell);
      const lines = ['ssh-ed25519 AAAA ana@desk', 'ssh-ed25519 BBBB meshwright', '# meshwright was here once'];
      root.file(keys, lines.join('\n'));
      // A run that was killed has left the key of an exchange.
      const leave = `${sh.exchangeKeys({})}\nHOME="$R/Users/mesh"\ngrant "$R/opt/meshwright/peers/tiny-1" 14567 'ssh-ed25519 CCCC'`;
      mkdirSync(join(root.folder, 'opt/meshwright/peers/tiny-1'), { recursive: true });
      await root.runBody(`${leave}\nchanged`);
      expect(root.read(keys)).toMatch(/^restrict,.* ssh-ed25519 CCCC meshwright-exchange-tiny-1$/m);
      root.file(dropIn, 'mesh ALL=...');
      root.file('etc/sudoers.d/theirs', 'theirs');
      const end = await withdraw(root);
      expect([end.result, root.has(ours), root.has(dropIn)]).toEqual([changed, false, false]);
      expect(root.read(keys)).toBe('ssh-ed25519 AAAA ana@desk\n# meshwright was here once\n');
      expect(root.read('etc/sudoers.d/theirs')).toBe('theirs');
    });

    it('removes an authorized_keys file without other keys', async () => {
      const root = newRoot(shell);
      root.file(keys, 'ssh-ed25519 BBBB meshwright\n');
      await withdraw(root);
      expect(root.has('Users/mesh/.ssh')).toBe(false);
    });

    it('updates a linked authorized_keys file and keeps the link', async () => {
      const root = newRoot(shell);
      root.file('Users/mesh/dotfiles/keys', 'ssh-ed25519 AAAA ana@desk\nssh-ed25519 BBBB meshwright\n');
      mkdirSync(join(root.folder, 'Users/mesh/.ssh'));
      symlinkSync('../dotfiles/keys', join(root.folder, keys));
      expect((await withdraw(root)).result).toEqual(changed);
      expect(lstatSync(join(root.folder, keys)).isSymbolicLink()).toBe(true);
      expect(root.read('Users/mesh/dotfiles/keys')).toBe('ssh-ed25519 AAAA ana@desk\n');
      expect(readdirSync(join(root.folder, 'Users/mesh/.ssh'))).toEqual(['authorized_keys']);
    });

    it('removes nothing if the new keys cannot be prepared', async () => {
      const root = newRoot(shell);
      root.file(keys, 'ssh-ed25519 AAAA ana@desk\nssh-ed25519 BBBB meshwright\n');
      root.file(dropIn, 'mesh ALL=...');
      root.tool('bin/cp', "printf 'cp: no space\\n' >&2; exit 1");
      expect((await withdraw(root)).result).toMatchObject({ kind: 'failed', slug: 'cp' });
      expect([root.has(ours), root.has(dropIn)]).toEqual([true, true]);
      expect(root.read(keys)).toContain('meshwright');
    });

    it('does not change an authorized_keys file without its key', async () => {
      const root = newRoot(shell);
      writeFileSync(join(root.folder, 'x'), '');
      root.file(keys, 'ssh-ed25519 AAAA ana@desk');
      await withdraw(root);
      expect(root.read(keys)).toBe('ssh-ed25519 AAAA ana@desk');
    });

    it('does nothing for a run without the lease', async () => {
      const root = newRoot(shell);
      root.file(`${ours}/lease/owner`, 'run=r-other\ntoken=9\n');
      root.file(dropIn, 'mesh ALL=...');
      expect((await withdraw(root)).code).toBe(75);
      expect([root.has(`${ours}/lease/owner`), root.has(dropIn)]).toEqual([true, true]);
    });
  });
});
