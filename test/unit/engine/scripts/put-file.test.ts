import { spawnSync } from 'node:child_process';
import { chmodSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { allProbes, parseFacts } from '../../../../src/engine/observe/facts.ts';
import type { InstalledFile } from '../../../../src/model/facts/fact-values.ts';
import type { Known } from '../../../../src/model/known.ts';
import { parseFrames } from '../../../../src/node/frames.ts';
import { observeScript } from '../../../../src/node/observe-script.ts';
import { nodePath, place } from '../../../../src/node/paths/node-paths.ts';
import { serviceFile } from '../../../../src/node/paths/own-paths.ts';
import { fileSeal, posixCksum, putBody, textDigest } from '../../../../src/node/put-file.ts';
import { type MacRoot, makeMacRoot } from './mac-root.ts';
import { removedAfter, startScript } from './node-root.ts';
import { type Shell, scriptShells } from './shells.ts';

const newRoot = removedAfter(makeMacRoot);

const plist = serviceFile('kimi');
const content = ["<string>it's \\n $R ", place.ours, ' é</string>\n'] as const;
const put = (root: MacRoot, more: Partial<Parameters<typeof putBody>[0]> = {}) =>
  root.runBody(putBody({ path: plist, mode: 0o644, content, rootPrefix: root.folder, login: 'ana', ...more }));

async function filesOf(shell: Shell, root: MacRoot): Promise<Known<readonly InstalledFile[]>> {
  const boundary = '0123456789abcdef0123456789abcdef';
  const request = {
    probes: allProbes().filter(({ name }) => name === 'kept-files'),
    boundary,
    rootPrefix: root.folder,
  };
  const { stdout } = await startScript(shell, observeScript(request)).end;
  return parseFacts(parseFrames(stdout, request), { sentAtEpochMs: 0, receivedAtEpochMs: 1 }).files;
}

describe.each(scriptShells)('a written file in $name', (shell) => {
  it('has the given content and mode, belongs to root and is intact', async () => {
    const root = newRoot(shell);
    expect((await put(root)).result).toEqual({ kind: 'done', isChanged: true, said: [] });
    expect(root.read(plist.path)).toBe(`<string>it's \\n $R ${root.folder}${place.ours.path} é</string>\n`);
    expect(statSync(join(root.folder, plist.path)).mode & 0o777).toBe(0o644);
    expect(root.calls()).toEqual([
      `chown root:wheel ${root.folder}/Library/LaunchDaemons/.dev.meshwright.rank.kimi.plist.new`,
    ]);
    const seen = { kind: 'known', value: [{ path: plist.path, digest: textDigest(content), state: 'intact' }] };
    expect(await filesOf(shell, root)).toEqual(seen);
    expect((await put(root)).result).toEqual({ kind: 'done', isChanged: false, said: [] });
    expect(root.tree().filter((line) => line.includes('.new'))).toEqual([]);
  });

  it('is rewritten if changed or missing', async () => {
    const root = newRoot(shell);
    await put(root);
    const file = join(root.folder, plist.path);
    const state = async () => {
      const files = await filesOf(shell, root);
      return files.kind === 'known' ? files.value.map((one) => one.state) : files;
    };
    const damages = [
      ['changed', () => root.file(plist.path, readFileSync(file, 'utf8').replace('it', 'IT'))],
      ['changed', () => root.file(plist.path, '')],
      ['changed', () => chmodSync(file, 0o600)],
      ['missing', () => rmSync(file)],
    ] as const;
    for (const [expected, damage] of damages) {
      damage();
      expect(await state()).toEqual([expected]);
      expect((await put(root)).result).toMatchObject({ isChanged: true });
      expect(await state()).toEqual(['intact']);
    }
    rmSync(join(root.folder, fileSeal(plist).path));
    expect(await state()).toEqual([]);
    expect((await put(root)).result).toMatchObject({ isChanged: true });
    expect(await state()).toEqual(['intact']);
  });

  it('contains the login name but has the same digest for every user', async () => {
    const root = newRoot(shell);
    const named = ['<string>', { kind: 'login-user' }, '</string>\n'] as const;
    await put(root, { content: named });
    expect(root.read(plist.path)).toBe('<string>ana</string>\n');
    const seen = { kind: 'known', value: [{ path: plist.path, digest: textDigest(named), state: 'intact' }] };
    expect(await filesOf(shell, root)).toEqual(seen);
    expect((await put(root, { content: named, login: 'bo' })).result).toMatchObject({ isChanged: true });
    expect(await filesOf(shell, root)).toEqual(seen);
  });

  it('replaces a link but neither its target nor a folder', async () => {
    const root = newRoot(shell);
    root.file('etc/precious', 'mine');
    await root.run(`cd '${root.folder.replaceAll("'", "'\\''")}' && /bin/mkdir -p Library/LaunchDaemons opt/x &&
/bin/ln -s ../../etc/precious Library/LaunchDaemons/dev.meshwright.rank.kimi.plist
/bin/ln -s ../../etc/precious Library/LaunchDaemons/.dev.meshwright.rank.kimi.plist.new`);
    expect((await put(root)).result).toMatchObject({ isChanged: true });
    expect(root.read('etc/precious')).toBe('mine');
    expect((await put(root, { path: nodePath('/opt/x') })).result).toMatchObject({ kind: 'failed', slug: 'odd-file' });
  });

  it.each(['Operation not permitted', 'Read-only file system'])(
    'keeps the old file and fails if mv reports %s',
    async (words) => {
      const root = newRoot(shell);
      await put(root);
      const before = root.read(plist.path);
      root.tool('bin/mv', `printf 'mv: rename: ${words}\\n' >&2; exit 1`);
      expect((await put(root, { content: ['new'] })).result).toEqual({
        kind: 'failed',
        slug: 'mv',
        text: `mv: rename: ${words}`,
      });
      expect(root.read(plist.path)).toBe(before);
    },
  );

  it('keeps the old file if the new one is incomplete', async () => {
    const root = newRoot(shell);
    await put(root);
    const before = root.read(plist.path);
    root.tool('usr/bin/cksum', 'printf "1 1 %s\\n" "$1"');
    expect((await put(root, { content: ['new'] })).result).toMatchObject({ kind: 'failed', slug: 'write' });
    expect(root.read(plist.path)).toBe(before);
  });
});

describe('a text digest', () => {
  it('does not depend on the root prefix or on how the text was split', () => {
    expect(textDigest(['a', 'b', place.ours])).toBe(textDigest(['ab', place.ours]));
    expect(textDigest([place.ours])).not.toBe(textDigest([place.ours.path]));
    expect(textDigest([{ kind: 'login-user' }])).not.toBe(textDigest(['ana']));
  });
});

describe('posixCksum', () => {
  it('returns the checksum that cksum prints', () => {
    for (const text of ['', 'a', 'hello\n', 'é'.repeat(70_000), '\u0000\u0001\u00ff']) {
      const printed = spawnSync('cksum', { input: text }).stdout.toString().trim();
      expect(posixCksum(Buffer.from(text))).toBe(printed);
    }
  });
});

describe('putBody', () => {
  it('throws for a mode that others cannot read', () => {
    expect(() => putBody({ path: plist, mode: 0o600, content, rootPrefix: '', login: 'ana' })).toThrow(/readable/);
  });
});
