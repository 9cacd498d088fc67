import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { objectionsTo } from '../../../../src/sim/hosts/strict-shell.ts';
import { shared } from '../../../rack/kept-running.ts';
import { bareNode } from './bare-node.ts';

const node = shared(bareNode);
let outside = '';
beforeAll(async () => {
  outside = join(node.folder, 'outside');
  await node.setState('sudo', 'allowed\n');
});
beforeEach(() => writeFile(outside, 'precious'));

/** `$O` is the path of a file outside the root, `$U` the relative path of the same file. */
const sh = (script: string) => node.sh(`O="\${R%/*}/outside"; U=../../../outside\n${script}`);

describe('a base tool with a path outside the node', () => {
  it.each([
    'rm "$O"',
    'rm -rf -- "$O"',
    'rm "$U"',
    'rm "$R/../outside"',
    'cd /; rm "$O"',
    'cd "$R/.."; rm outside',
    'mv "$O" here',
    'cp "$O" here',
    ': >mine; cp mine "$O"',
    ': >mine; mv mine "$O"',
    'ln -sfh "$O" link',
    'tee "$O"',
    'touch "$O"',
    'touch -r "$O" here',
    'mkdir "$O.d"',
    'chmod 000 "$O"',
    'cat "$O"',
    'head -n 1 "$O"',
    'tail -n 1 "$O"',
    'wc -c "$O"',
    'ls /',
    'cd /; ls',
    'stat -f %z "$O"',
    'readlink "$O"',
    'grep p "$O"',
    'grep -f "$O" here',
    'sed p "$O"',
    'awk 1 "$O"',
    'cut -c 1 "$O"',
    'sort -o "$O" /dev/null',
    'cmp "$O" /dev/null',
    'shasum "$O"',
    'sha256sum "$O"',
    'tar -cf here.tar "$O"',
    'tar -cf "$O" here',
    'tar -cf here.tar -C / x',
    'find "$O" -delete',
    'find . -newer "$O"',
    'find . -exec /bin/rm "$O" \\;',
    'mktemp "$O.XXXXXX"',
    'sudo -n rm "$O"',
    'sudo -n /bin/rm "$O"',
    'sudo -n PATH=/bin:/usr/bin rm "$O"',
    'env rm "$O"',
    'env /bin/rm "$O"',
    'env PATH=/bin:/usr/bin rm "$O"',
    'env -i rm "$O"',
    'nohup /bin/rm "$O"',
    'echo x | xargs /bin/rm "$O"',
    'rm /dev/null/x',
  ])('is rejected and recorded, and changes nothing: %s', async (script) => {
    const ran = await sh(script);
    expect(ran.err).toMatch(/^[a-z0-9]+: .*: simulated: below this node's root only$/m);
    expect([ran.out, ran.code === 0]).toEqual(['', false]);
    expect(ran.unknown).toMatch(/^\/(usr\/)?s?bin\/[a-z0-9]+ \d+:/);
    expect(await readFile(outside, 'utf8')).toBe('precious');
    expect((await readdir(node.folder)).sort()).toEqual(['node 1', 'outside']);
  });

  it('is rejected for each file passed by xargs', async () => {
    const ran = await sh('printf "%s\\0" "$O" | xargs -0 rm');
    expect(ran.err).toMatch(/^rm: .*: simulated: /);
    expect(await readFile(outside, 'utf8')).toBe('precious');
  });
});

describe('a base tool with paths inside its node, or with other arguments', () => {
  it.each([
    ['printf x >a; cp a "$R/tmp/b"; mv "$R/tmp/b" c; cat c; rm a "$R/Users/mesh/c"', 'x'],
    ['printf x | tee "$R/tmp/t"; cat "$R/tmp/t" - /dev/null', 'xx'],
    ['cd "$R/tmp" && printf x >u && ls u && rm u', 'u\n'],
    ['cd "$R/Volumes" && ls', ''],
    ['echo /etc/hosts ../x; printf "%s\\n" /etc', '/etc/hosts ../x\n/etc\n'],
    ['printf "/a\\n" | grep /a; printf "/a\\n" | grep -e /a', '/a\n/a\n'],
    ['printf "/a\\n" | sed -n /a/p; printf "/a\\n" | awk /a/', '/a\n/a\n'],
    ['printf /a | tr / -; basename /x/y', '-ay\n'],
    ['env X=/etc "$R/usr/bin/printf" y; env PATH="$R/usr/bin:$R/bin" printf z', 'yz'],
    ['echo /x | xargs -n 1 echo; sudo -n X=/y echo /z', '/x\n/z\n'],
    ['mkdir -p "$R/tmp/d/e"; find "$R/tmp/d" -name "/*" -o -name e -exec basename {} \\;; rm -rf "$R/tmp/d"', 'e\n'],
  ])('succeeds: %s', async (script, out) => {
    expect(await sh(script)).toEqual({ code: 0, out, err: '', unknown: '' });
  });

  it('fails in a removed folder, as on a Mac', async () => {
    const ran = await sh('mkdir "$R/tmp/gone" && cd "$R/tmp/gone" && rmdir "$R/tmp/gone"; /bin/sh -c "mv -f a b"');
    expect([ran.code === 0, ran.unknown]).toEqual([false, '']);
  });
});

describe('the strict shell on paths outside the node', () => {
  it.each(['echo x >/data/file', 'echo x >../../../file', '../../../../bin/rm x', 'cat </data/file'])(
    'rejects %s',
    (text) => {
      expect(objectionsTo(text, '/run/roots/studio-1').map((one) => one.code)).toEqual([127]);
    },
  );
});
