import { chmodSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { JobArgs, JobCall, TreeFile } from '../../../../src/model/node-script.ts';
import { nodePath } from '../../../../src/node/paths/node-paths.ts';
import { jobFolder, stagedFile, stagedTree } from '../../../../src/node/paths/own-paths.ts';
import type { MacRoot } from './mac-root.ts';
import { removedAfter } from './node-root.ts';
import { ended, key, launch, makeJobRoot, runJob, sha256 } from './run-job.ts';
import { exampleModel } from './script-examples.ts';
import { type Shell, scriptShells } from './shells.ts';

const jobRoot = removedAfter(makeJobRoot);
const hub = 'Users/ana/.cache/huggingface/hub/models--acme--tiny';
const folder = `${hub}/snapshots/0123`;
const weights = 'weights '.repeat(1_000);
const files: readonly TreeFile[] = [
  { path: 'config.json', sha256: sha256('{}'), sizeBytes: 2 },
  { path: "sub/it's #1.bin", sha256: sha256(weights), sizeBytes: weights.length },
];

/** Creates a node with the model in the cache of Hugging Face, where names are links to blobs. */
function newRoot(shell: Shell): MacRoot {
  const root = jobRoot(shell);
  root.tool('usr/sbin/lsof', 'exit 1');
  root.recorded('bin/cp', '[ "$1" = -c ] && shift\nexec /bin/cp "$@"');
  root.file(`${hub}/blobs/one`, '{}');
  root.file(`${hub}/blobs/two`, weights);
  root.file(`${folder}/README.md`, '');
  root.file(`${folder}/sub/other`, '');
  symlinkSync('../../blobs/one', join(root.folder, folder, 'config.json'));
  symlinkSync('../../../blobs/two', join(root.folder, folder, "sub/it's #1.bin"));
  return root;
}

const call = (more: Partial<JobArgs['adopt-model']> = {}): JobCall => ({
  name: 'adopt-model',
  args: {
    tree: exampleModel,
    files: files.map((file) => ({ ...file, from: file.path })),
    folder: nodePath(`/${folder}`),
    fence: nodePath(`/${hub}`),
    ...more,
  },
});

const originals = (root: MacRoot): readonly string[] => root.tree().filter((line) => line.startsWith('Users/'));
const staged = (root: MacRoot): readonly string[] =>
  root.tree().filter((line) => `/${line}`.startsWith(`${stagedTree(exampleModel).path}/`) && !line.includes('/ '));
const noteOf = (root: MacRoot) => root.read(`${jobFolder(key).path}/note`);

describe.concurrent.each(scriptShells)('adopt-model in $name', (shell) => {
  it('clones every file with a single cp call and leaves the folder unchanged', async () => {
    const root = newRoot(shell);
    const before = originals(root);
    const total = weights.length + 2;
    expect(await runJob(root, call())).toEqual({ state: 'ended', exit: 0, done: total, total });
    expect(root.read(stagedFile(exampleModel, "sub/it's #1.bin").path)).toBe(weights);
    expect(originals(root)).toEqual(before);
    const clones = root.calls().filter((one) => one.startsWith('cp '));
    expect(clones.map((one) => /^cp -c .*\/blobs\/(one|two) .*\.clone$/.test(one))).toEqual([true, true]);
  });

  it('omits a file with one wrong byte, and reports it', async () => {
    const root = newRoot(shell);
    root.file(`${hub}/blobs/two`, weights.replace('w', 'W'));
    expect(await runJob(root, call())).toMatchObject({
      exit: 0,
      done: 2,
      note: "1 left out: sub/it's #1.bin has different contents",
    });
    expect(root.has(stagedFile(exampleModel, 'config.json').path)).toBe(true);
    expect(root.has(stagedFile(exampleModel, "sub/it's #1.bin").path)).toBe(false);
    expect(staged(root).filter((line) => line.includes('.clone'))).toEqual([]);
  });

  it('omits a file that cannot be read', async () => {
    const root = newRoot(shell);
    root.tool('usr/bin/shasum', 'mkdir "$R/../hashed" || exit 1\nexec /usr/bin/shasum "$@"');
    expect(await runJob(root, call())).toMatchObject({
      exit: 0,
      done: 2,
      note: "1 left out: sub/it's #1.bin cannot be read",
    });
  });

  it('omits links that point outside the folder, and files whose size differs', async () => {
    const root = newRoot(shell);
    root.file('private/secret', '{}');
    root.file(`${hub}/blobs/two`, 'short');
    const link = join(root.folder, folder, 'config.json');
    symlinkSync('../../../../../../../../private/secret', `${link}.new`);
    const args = {
      files: files.map((file) => ({ ...file, from: file.path === 'config.json' ? 'config.json.new' : file.path })),
    };
    expect(await runJob(root, call(args))).toMatchObject({ exit: 0, done: 0 });
    expect(noteOf(root)).toBe('2 left out: config.json.new is missing or leads out of the folder\n');
  });

  it('refuses a folder that a process writes to, even to a file that the model lacks', async () => {
    const root = newRoot(shell);
    const opened = (one: MacRoot, access: string) =>
      one.tool('usr/sbin/lsof', `printf 'p41\\ncpython3.12\\nf7\\na${access}\\nn%s\\n' "$3"`);
    opened(root, 'r');
    expect(await runJob(root, call())).toMatchObject({ exit: 0 });
    for (const access of ['w', 'u']) {
      const busy = newRoot(shell);
      opened(busy, access);
      expect(await runJob(busy, call())).toMatchObject({
        failure: {
          slug: 'adopt-writing',
          text: expect.stringMatching(/^python3\.12 \(PID 41\) is writing \/.*models--acme--tiny/),
        },
      });
      expect(staged(busy)).toEqual([]);
    }
  });

  it('checks only its own files in a folder with other models', async () => {
    const root = newRoot(shell);
    root.recorded('usr/sbin/lsof', 'exit 1');
    const flat = nodePath(`/${hub}/blobs`);
    const named = files.map((file, at) => ({ ...file, from: ['one', 'two'][at] ?? '' }));
    root.file(`${hub}/blobs/sha256-of-another-partial`, 'x');
    expect(await runJob(root, call({ files: named, folder: flat, fence: flat, isShared: true }))).toMatchObject({
      exit: 0,
    });
    const asked = root.calls().filter((one) => one.startsWith('lsof '));
    expect(asked.filter((one) => one.includes('another'))).toEqual([]);
    expect(asked).toHaveLength(4);
  });

  it('refuses a folder whose files change while they are cloned', async () => {
    const root = newRoot(shell);
    root.tool('bin/cp', `shift; /bin/cp "$@"; case $1 in (*/two) printf more >>"$R/${hub}/blobs/one" ;; esac`);
    expect(await runJob(root, call())).toMatchObject({ failure: { slug: 'adopt-changed' } });
  });

  it('fails if the folder is missing, or if the Mac has no lsof', async () => {
    const root = newRoot(shell);
    expect(await runJob(root, call({ folder: nodePath('/Users/ana/gone') }))).toMatchObject({
      failure: { slug: 'adopt-gone' },
    });
    const bare = newRoot(shell);
    chmodSync(join(bare.folder, 'usr/sbin/lsof'), 0o644);
    expect(await runJob(bare, call())).toMatchObject({ failure: { slug: 'adopt-writing' } });
  });

  it('continues after it was killed, without comparing any file twice', async () => {
    const root = newRoot(shell);
    root.tool(
      'bin/cp',
      `shift; case $1 in (*/two) kill -9 "$(cat "$R${jobFolder(key).path}/pid")"; exit 1 ;; esac; exec /bin/cp "$@"`,
    );
    await launch(root, call());
    expect(await ended(root)).toMatchObject({ state: 'gone' });
    root.file(`${stagedFile(exampleModel, "sub/it's #1.bin").path}.clone`, 'half of it');
    const again = root.started().length;
    root.tool('bin/cp', 'shift; exec /bin/cp "$@"');
    expect(await runJob(root, call())).toMatchObject({ exit: 0, done: weights.length + 2 });
    const sums = root
      .started()
      .slice(again)
      .filter(({ tool }) => tool === 'usr/bin/shasum');
    expect(sums).toHaveLength(1);
    expect(staged(root).filter((line) => line.includes('.clone'))).toEqual([]);
  });
});
