import { utimesSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { JobCall } from '../../../../src/model/node-script.ts';
import { nodePath } from '../../../../src/node/paths/node-paths.ts';
import { folderListCommand, parseFolderList } from '../../../../src/rack/artifacts/models/list-folders.ts';
import type { MacRoot } from './mac-root.ts';
import { removedAfter } from './node-root.ts';
import { ended, key, launch, makeJobRoot, runJob, sha256 } from './run-job.ts';
import { type Shell, scriptShells } from './shells.ts';

const newRoot = removedAfter(makeJobRoot);
const shell = scriptShells.find(({ name }) => name === 'dash') ?? (scriptShells[0] as Shell);
const folder = '/Volumes/my disk/tiny';
const call: JobCall = { name: 'list-folder', args: { model: 'tiny', folder: nodePath(folder), most: 3 } };

/** A node with a folder. A pause of the job lasts no time, and writes what `onPause` says. */
function withFolder(files: Readonly<Record<string, string>>, onPause = ''): MacRoot {
  const root = newRoot(shell);
  for (const [path, text] of Object.entries(files)) root.file(`${folder}/${path}`, text);
  root.tool(
    'bin/sleep',
    `case $1 in (2) cd "$R${folder}" && { ${onPause || ':'}; } ;; (*) exec /bin/sleep "$@" ;; esac`,
  );
  root.recorded('usr/bin/shasum', 'exec /usr/bin/shasum "$@"');
  return root;
}

const hashes = (root: MacRoot): number => root.calls().filter((line) => line.startsWith('shasum')).length;

async function listOf(root: MacRoot) {
  const { stdout } = await root.run(folderListCommand(key, root.folder));
  return parseFolderList(stdout);
}

async function again(root: MacRoot) {
  expect(await launch(root, call)).toMatchObject({ said: ['job=started'] });
  return ended(root);
}

const [a, b] = [
  { path: 'a', sha256: sha256('ab'), sizeBytes: 2 },
  { path: "odd names/it's", sha256: sha256('cde'), sizeBytes: 3 },
];

describe('the job that lists a folder', () => {
  it('lists every file except hidden ones, and rehashes only changed files', async () => {
    const root = withFolder({
      a: 'ab',
      "odd names/it's": 'cde',
      '.cache/huggingface/x.metadata': 'x',
      '.DS_Store': '',
    });
    expect(await runJob(root, call)).toEqual({ state: 'ended', exit: 0, done: 5, total: 5 });
    expect(await listOf(root)).toEqual([a, b]);
    expect(hashes(root)).toBe(2);
    expect(await again(root)).toMatchObject({ exit: 0 });
    expect([await listOf(root), hashes(root)]).toEqual([[a, b], 2]);
    root.file(`${folder}/a`, 'xy');
    utimesSync(join(root.folder, folder, 'a'), 1, 1);
    expect(await again(root)).toMatchObject({ exit: 0 });
    expect([await listOf(root), hashes(root)]).toEqual([[{ ...a, sha256: sha256('xy') }, b], 3]);
  });

  it.each([
    ['a file that is written', 'printf x >>a', 'a changed while the folder was read'],
    ['a new file', 'printf x >b', 'b changed while the folder was read'],
    ['a file that is deleted', '/bin/rm a', 'could not be read'],
  ])('refuses %s while it reads the folder', async (_what, onPause, text) => {
    const { failure } = await runJob(withFolder({ a: 'ab' }, onPause), call);
    expect(failure?.text).toContain(text);
  });

  it.each([
    ['an unfinished download', { 'a.partial': '' }, 'being-written'],
    ['an unfinished download among hidden files', { '.cache/a.incomplete': '' }, 'being-written'],
    ['too many files', { a: '', b: '', c: '', d: '' }, 'too-many-files'],
  ])('refuses %s', async (_what, files, slug) => {
    expect(await runJob(withFolder({ a: 'ab', ...files }), call)).toMatchObject({ exit: 1, failure: { slug } });
  });

  it('refuses a missing folder', async () => {
    expect(await runJob(newRoot(shell), call)).toMatchObject({ exit: 1, failure: { slug: 'no-source' } });
  });
});
