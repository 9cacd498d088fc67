/** The blocks that an adopted model takes, counted on XFS, which clones files as APFS does. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statfsSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JobCall } from '../../src/model/node-script.ts';
import { nodePath } from '../../src/node/paths/node-paths.ts';
import { stagedFile } from '../../src/node/paths/own-paths.ts';
import type { MacRoot } from '../unit/engine/scripts/mac-root.ts';
import { isVerified, makeJobRoot, runJob, sha256 } from '../unit/engine/scripts/run-job.ts';
import { exampleModel } from '../unit/engine/scripts/script-examples.ts';
import { type Shell, scriptShells } from '../unit/engine/scripts/shells.ts';

const weights = 'weights '.repeat(4_000_000);
/** XFS counts some blocks for names and for its lists of shared blocks. */
const few = 1_000_000;

const above = mkdtempSync(join(tmpdir(), 'mw-clones-'));
const disk = join(above, 'disk');
beforeAll(() => {
  const image = join(above, 'image');
  execFileSync('truncate', ['-s', '400M', image]);
  execFileSync('mkfs.xfs', ['-q', '-m', 'reflink=1', image]);
  mkdirSync(disk);
  execFileSync('mount', ['-o', 'loop', image, disk]);
});
afterAll(() => {
  // The last job's shell may still be in a folder of the disk.
  execFileSync('umount', ['-l', disk]);
  rmSync(above, { recursive: true });
});

const hub = 'Users/ana/.cache/huggingface/hub/models--acme--tiny';
const snapshot = `${hub}/snapshots/0123`;
const files = [{ path: 'a.safetensors', sha256: sha256(weights), sizeBytes: weights.length }];

/** A node on the disk, with the model in the cache of Hugging Face. `clone` are the words of its `cp -c`. */
function newRoot(clone: string): MacRoot {
  const former = process.env['TMPDIR'];
  process.env['TMPDIR'] = disk;
  const root = makeJobRoot(scriptShells[0] as Shell);
  if (former === undefined) delete process.env['TMPDIR'];
  else process.env['TMPDIR'] = former;
  root.tool('usr/sbin/lsof', 'exit 1');
  root.tool('bin/cp', `[ "$1" != -c ] || { shift; set -- ${clone} "$@"; }; exec /bin/cp "$@"`);
  root.file(`${hub}/blobs/one`, weights);
  mkdirSync(join(root.folder, snapshot), { recursive: true });
  symlinkSync('../../blobs/one', join(root.folder, snapshot, 'a.safetensors'));
  return root;
}

/** Everything about the model's files except the time when they were last read. */
const statesOf = (root: MacRoot): readonly string[] =>
  readdirSync(join(root.folder, hub), { recursive: true, encoding: 'utf8' })
    .toSorted()
    .map((name) => {
      const { ino, size, mtimeMs, ctimeMs, mode, uid, nlink, blocks } = statSync(join(root.folder, hub, name));
      return [name, ino, size, mtimeMs, ctimeMs, mode, uid, nlink, blocks].join(' ');
    });

function usedBytes(): number {
  execFileSync('sync', ['-f', disk]);
  const { blocks, bfree, bsize } = statfsSync(disk);
  return (blocks - bfree) * bsize;
}

const adopt: JobCall = {
  name: 'adopt-model',
  args: {
    tree: exampleModel,
    files: files.map((file) => ({ ...file, from: file.path })),
    folder: nodePath(`/${snapshot}`),
    fence: nodePath(`/${hub}`),
  },
};
const fetch: JobCall = {
  name: 'fetch-model',
  args: { tree: exampleModel, files, source: { kind: 'folder', folder: nodePath(`/${snapshot}`) } },
};

describe('a model that is already on the node', () => {
  /** The bytes that the disk has less after a job. */
  async function cost(call: JobCall, clone: string): Promise<number> {
    const root = newRoot(clone);
    const [before, used] = [statesOf(root), usedBytes()];
    expect(await runJob(root, call)).toMatchObject({ exit: 0 });
    expect(root.read(stagedFile(exampleModel, 'a.safetensors').path) === weights).toBe(true);
    expect(isVerified(root, exampleModel)).toBe(call === fetch);
    expect(statesOf(root)).toEqual(before);
    const grown = usedBytes() - used;
    root.remove();
    return grown;
  }

  it.each([
    ['adopted', adopt],
    ['fetched from a folder of the node', fetch],
  ])('takes up no extra disk space if it is %s', async (_, call) => {
    expect(await cost(call, '--reflink=always')).toBeLessThan(few);
  });

  it('takes up extra disk space only if the file system cannot clone files', async () => {
    expect(await cost(adopt, '--reflink=never')).toBeGreaterThan(weights.length);
  });
});
