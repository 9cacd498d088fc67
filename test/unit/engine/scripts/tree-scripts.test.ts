import { chmodSync, mkdirSync, rmSync, symlinkSync, utimesSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { allProbes, parseFacts } from '../../../../src/engine/observe/facts.ts';
import { scriptBody } from '../../../../src/engine/scripts/registry.ts';
import { digest } from '../../../../src/model/digest.ts';
import type { ObservedTree } from '../../../../src/model/facts/fact-values.ts';
import type { Known } from '../../../../src/model/known.ts';
import type { ScriptCall, TreeId } from '../../../../src/model/node-script.ts';
import { parseFrames } from '../../../../src/node/frames.ts';
import { observeScript } from '../../../../src/node/observe-script.ts';
import {
  currentLink,
  libraryList,
  sealName,
  stagedFile,
  stagingFolder,
  treeFolder,
  verifiedMark,
} from '../../../../src/node/paths/own-paths.ts';
import { until } from '../../../until.ts';
import { changed, type MacRoot, makeMacRoot, run, unchanged } from './mac-root.ts';
import { removedAfter, startScript } from './node-root.ts';
import { exampleModel, exampleRuntime } from './script-examples.ts';
import { type Shell, scriptShells } from './shells.ts';

const newRoot = removedAfter(makeMacRoot);

/** A tree in staging as a job leaves it, with two files and a link. */
function stage(root: MacRoot, tree: TreeId, mark = `${tree.digest} flushed`): void {
  root.file(stagedFile(tree, 'bin/rank').path, 'ab');
  root.file(stagedFile(tree, "odd names/it's \\ $x").path, 'cd');
  root.file(verifiedMark(tree).path, `${mark}\n`);
}

const publish = (tree: TreeId): ScriptCall => ({ name: 'publish-tree', args: { tree, jobs: [] } });

async function treesOf(shell: Shell, root: MacRoot): Promise<Known<readonly ObservedTree[]>> {
  const boundary = '0123456789abcdef0123456789abcdef';
  const request = {
    probes: allProbes().filter(({ name }) => name === 'kept-files'),
    boundary,
    rootPrefix: root.folder,
  };
  const { stdout } = await startScript(shell, observeScript(request)).end;
  return parseFacts(parseFrames(stdout, request), { sentAtEpochMs: 0, receivedAtEpochMs: 1 }).trees;
}

const statesOf = async (shell: Shell, root: MacRoot) => {
  const trees = await treesOf(shell, root);
  return trees.kind === 'known' ? trees.value.map(({ kind, state }) => `${kind} ${state}`) : trees;
};

describe.each(scriptShells)('published trees in $name', (shell) => {
  it('are moved out of staging and sealed once verified', async () => {
    const root = newRoot(shell);
    stage(root, exampleModel);
    expect(await run(root, publish(exampleModel))).toEqual(changed);
    expect(root.read(`${treeFolder(exampleModel).path}/bin/rank`)).toBe('ab');
    expect(root.has(stagingFolder(exampleModel).path)).toBe(false);
    expect(await treesOf(shell, root)).toEqual({
      kind: 'known',
      value: [
        {
          kind: 'model',
          name: 'tiny',
          digest: exampleModel.digest.slice(0, 16),
          whole: exampleModel.digest,
          bytes: 4,
          isCurrent: false,
          state: 'intact',
        },
      ],
    });
    expect(await run(root, publish(exampleModel))).toEqual(unchanged);
  });

  it('are not created from a tree that is unverified or has a different digest', async () => {
    const root = newRoot(shell);
    for (const mark of ['', 'f'.repeat(64)]) {
      stage(root, exampleModel, mark);
      expect(await run(root, publish(exampleModel))).toMatchObject({ kind: 'failed', slug: 'not-verified' });
    }
    stage(root, exampleModel);
    mkdirSync(join(root.folder, libraryList(exampleModel).path));
    expect(await run(root, publish(exampleModel))).toMatchObject({ kind: 'failed', slug: 'read' });
    rmSync(join(root.folder, verifiedMark(exampleModel).path));
    expect(await run(root, publish(exampleModel))).toMatchObject({ slug: 'not-verified' });
    expect(root.has(treeFolder(exampleModel).path)).toBe(false);
    expect(await treesOf(shell, root)).toEqual({
      kind: 'known',
      value: [
        { kind: 'model', name: 'tiny', digest: exampleModel.digest.slice(0, 16), isCurrent: false, state: 'staged' },
      ],
    });
  });

  it('are replaced if an observation shows a change', async () => {
    const folder = treeFolder(exampleModel).path;
    const longAgo = new Date(1_000_000_000_000);
    const damages: readonly ((root: MacRoot) => void)[] = [
      (root) => root.file(`${folder}/bin/rank`, 'ax'),
      (root) => {
        root.file(`${folder}/bin/rank`, 'ax');
        utimesSync(join(root.folder, folder, 'bin/rank'), longAgo, longAgo);
      },
      (root) => root.file(`${folder}/bin/more`, ''),
      (root) => rmSync(join(root.folder, folder, 'bin/rank')),
      (root) => root.file(`${folder}/${sealName}`, ''),
    ];
    for (const [at, damage] of damages.entries()) {
      const root = newRoot(shell);
      stage(root, exampleModel);
      await run(root, publish(exampleModel));
      // File times have a resolution of a few milliseconds here.
      await new Promise((resolve) => setTimeout(resolve, 30));
      damage(root);
      expect([at, await statesOf(shell, root)]).toEqual([at, [at === 4 ? 'model unsealed' : 'model changed']]);
      expect(await run(root, publish(exampleModel))).toMatchObject({ slug: 'not-verified' });
      stage(root, exampleModel);
      expect([at, await run(root, publish(exampleModel))]).toEqual([at, changed]);
      expect(await statesOf(shell, root)).toEqual(['model intact']);
      expect(root.tree().filter((line) => line.includes('.replaced'))).toEqual([]);
    }
  });

  it('are observed as unsealed if they have no seal', async () => {
    const root = newRoot(shell);
    root.file('opt/meshwright/models/by-hand/0123456789abcdef/file', '');
    root.file('opt/meshwright/models/by-hand/notes.txt', '');
    root.file('opt/meshwright/models/by-hand/other/file', '');
    root.file('opt/meshwright/models/.hidden/0123456789abcdef/file', '');
    root.file(stagedFile(exampleModel, 'x').path, '');
    root.file('opt/meshwright/staging/.replaced-1/file', '');
    root.file('opt/meshwright/staging/other/file', '');
    expect(await statesOf(shell, root)).toEqual(['model unsealed', 'model staged']);
  });
});

describe.each(scriptShells)('runtime versions in $name', (shell) => {
  const older: TreeId = { ...exampleRuntime, digest: digest('0'.repeat(64)) };
  const currentOf = async (root: MacRoot) => {
    const trees = await treesOf(shell, root);
    return trees.kind === 'known' ? trees.value.filter((one) => one.isCurrent).map((one) => one.digest) : trees;
  };
  const withBoth = async (): Promise<MacRoot> => {
    const root = newRoot(shell);
    for (const tree of [older, exampleRuntime]) {
      stage(root, tree);
      await run(root, publish(tree));
    }
    return root;
  };
  const use = (tree: TreeId): ScriptCall => ({ name: 'switch-runtime', args: { tree } });

  it('are switched without a moment in which the link is missing', async () => {
    const root = await withBoth();
    expect(await run(root, use(older))).toEqual(changed);
    expect(await currentOf(root)).toEqual([older.digest.slice(0, 16)]);
    const link = join(root.folder, currentLink('reference').path);
    let misses = 0;
    let looks = 0;
    let isOver = false;
    const watching = until(() => {
      looks += 1;
      if (!root.has(`${currentLink('reference').path}/bin/rank`)) misses += 1;
      return isOver;
    });
    expect(await run(root, use(exampleRuntime))).toEqual(changed);
    isOver = true;
    await watching;
    expect([misses, looks > 0, link.endsWith('/current')]).toEqual([0, true, true]);
    expect(await currentOf(root)).toEqual([exampleRuntime.digest.slice(0, 16)]);
    expect(await run(root, use(exampleRuntime))).toEqual(unchanged);
    expect(await run(root, use({ ...older, digest: digest('1'.repeat(64)) }))).toMatchObject({ slug: 'not-published' });
  });

  it('are not switched to a version that lacks a program', async () => {
    const root = await withBoth();
    await run(root, use(exampleRuntime));
    chmodSync(join(root.folder, treeFolder(older).path, 'bin/rank'), 0o755);
    const switched = (...programs: readonly string[]): ScriptCall => ({
      name: 'switch-runtime',
      args: { tree: older, programs },
    });
    expect(await run(root, switched('bin/rank', 'exo-2/exo'))).toMatchObject({ slug: 'no-program' });
    expect(await currentOf(root)).toEqual([exampleRuntime.digest.slice(0, 16)]);
    expect(await run(root, switched('bin/rank'))).toEqual(changed);
  });

  it('are removed by digest, except the current version', async () => {
    const root = await withBoth();
    await run(root, use(exampleRuntime));
    const remove = (...digests: readonly string[]): ScriptCall => ({
      name: 'remove-runtime-versions',
      args: { name: 'reference', digests },
    });
    expect(await run(root, remove(exampleRuntime.digest.slice(0, 16)))).toMatchObject({ slug: 'current-version' });
    expect(await run(root, remove(older.digest.slice(0, 16)))).toEqual(changed);
    expect(await run(root, remove(older.digest))).toEqual(unchanged);
    expect(await statesOf(shell, root)).toEqual(['runtime intact']);
    expect(root.tree().filter((line) => line.includes('.removed'))).toEqual([]);
    expect(() => scriptBody(remove('../../x'))).toThrow();
  });
});

describe.each(scriptShells)('remove-model-versions in $name', (shell) => {
  const version = exampleModel.digest.slice(0, 16);
  const folder = treeFolder(exampleModel).path;
  const remove = (name = exampleModel.name): ScriptCall => ({
    name: 'remove-model-versions',
    args: { name, digests: [version] },
  });

  const published = async (): Promise<MacRoot> => {
    const root = newRoot(shell);
    stage(root, exampleModel);
    await run(root, publish(exampleModel));
    return root;
  };

  it('keeps other versions', async () => {
    const root = await published();
    const other = `${dirname(folder)}/${'f'.repeat(16)}/a`;
    root.file(other, 'ab');
    expect(await run(root, remove())).toEqual(changed);
    expect([root.has(folder), root.read(other)]).toEqual([false, 'ab']);
  });

  it('leaves damaged remains if interrupted, and deletes them the next time', async () => {
    const root = await published();
    root.tool('bin/rm', 'case $* in (*-rf*) exit 1 ;; (*) exec /bin/rm "$@" ;; esac');
    expect(await run(root, remove())).toMatchObject({ kind: 'failed', slug: 'rm' });
    expect(await statesOf(shell, root)).toEqual(['model unsealed']);
    root.tool('bin/rm', 'exec /bin/rm "$@"');
    expect(await run(root, remove())).toEqual(changed);
    expect(await statesOf(shell, root)).toEqual([]);
  });

  it('never follows a link', async () => {
    const root = await published();
    root.file(`elsewhere/${version}/a`, 'ab');
    symlinkSync(`${root.folder}/elsewhere`, `${root.folder}${dirname(dirname(folder))}/other`);
    expect(await run(root, remove('other'))).toMatchObject({ kind: 'failed', slug: 'odd-link' });
    rmSync(`${root.folder}${folder}`, { recursive: true });
    symlinkSync(`${root.folder}/elsewhere/${version}`, `${root.folder}${folder}`);
    expect(await run(root, remove())).toEqual(unchanged);
    expect(root.read(`elsewhere/${version}/a`)).toBe('ab');
  });

  it("keeps a version that appears in a process's arguments", async () => {
    const root = await published();
    root.tool('bin/ps', `printf '%s\\n' "/bin/rank --model ${root.folder}${folder}/a"`);
    expect(await run(root, remove())).toMatchObject({ kind: 'failed', slug: 'in-use' });
    expect(await statesOf(shell, root)).toEqual(['model intact']);
  });
});

describe.each(scriptShells)('prepare-staging in $name', (shell) => {
  const call: ScriptCall = { name: 'prepare-staging', args: { tree: exampleModel, user: 'mesh' } };

  it('gives the folder to the SSH user, keeps its files and removes a stale mark', async () => {
    const root = newRoot(shell);
    stage(root, exampleModel, 'f'.repeat(64));
    expect(await run(root, call)).toEqual(changed);
    expect(root.calls()).toEqual([`chown -R mesh ${root.folder}${stagingFolder(exampleModel).path}`]);
    expect(root.read(stagedFile(exampleModel, 'bin/rank').path)).toBe('ab');
    expect(root.has(verifiedMark(exampleModel).path)).toBe(false);
  });

  it('gives the folder to the sudo user when no SSH user is named', async () => {
    const root = newRoot(shell);
    const unnamed: ScriptCall = { name: 'prepare-staging', args: { tree: exampleModel, user: '' } };
    const { result } = await root.runBody(`SUDO_USER=ana\n${scriptBody(unnamed)}`);
    expect(result).toEqual(changed);
    expect(root.calls()).toEqual([`chown -R ana ${root.folder}${stagingFolder(exampleModel).path}`]);
  });
});
