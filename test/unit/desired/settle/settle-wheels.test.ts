import { describe, expect, it } from 'vitest';
import { emptyLock } from '../../../../src/config/lock.ts';
import {
  fitsMac,
  isPythonArchive,
  readWheelName,
  settleWheels as settleWheelsItself,
} from '../../../../src/desired/settle/python-packages.ts';
import { settleRuntime } from '../../../../src/desired/settle/settle-runtime.ts';
import type { FolderFact, SourceFacts } from '../../../../src/desired/settle/settle-trees.ts';
import type { MlxRuntime } from '../../../../src/drivers/mlx/runtime.ts';
import type { ClusterLock } from '../../../../src/model/cluster-lock.ts';
import { type Digest, digestOf } from '../../../../src/model/digest.ts';
import { onOnePage, onPage } from '../../one-page.ts';

const settleWheels = onPage(settleWheelsItself);

describe('the name of a wheel or Python archive', () => {
  it.each([
    ['mlx-0.31.2-cp312-cp312-macosx_14_0_arm64.whl', true],
    ['mlx_lm-0.31.3-py3-none-any.whl', true],
    ['six-1.17.0-py2.py3-none-any.whl', true],
    ['same-1.0-py312-none-any.whl', true],
    ['newer-1.0-py313-none-any.whl', false],
    ['tokenizers-0.22.1-cp39-abi3-macosx_11_0_arm64.whl', true],
    ['protobuf-6.33.0-cp39-abi3-macosx_10_9_universal2.whl', true],
    ['mlx-0.31.2-cp313-cp313-macosx_14_0_arm64.whl', false],
    ['mlx-0.31.2-cp311-cp311-macosx_14_0_arm64.whl', false],
    ['future-1.0-cp314-abi3-macosx_11_0_arm64.whl', false],
    ['numpy-2.3.4-cp312-cp312t-macosx_14_0_arm64.whl', false],
    ['numpy-2.3.4-cp312-cp312-macosx_14_0_x86_64.whl', false],
    ['numpy-2.3.4-cp312-cp312-manylinux_2_27_aarch64.whl', false],
    ['old-1.0-py2-none-any.whl', false],
    ['odd-1.0-xpy3-none-any.whl', false],
    ['odd-1.0-py3x-none-any.whl', false],
    ['odd-1.0-py3-none-xany.whl', false],
  ])('shows whether a wheel fits a Mac with Python 3.12: %s, %s', (file, fits) => {
    const wheel = readWheelName(file);
    expect(wheel && fitsMac(wheel, '3.12')).toBe(fits);
  });

  it('contains the package and version in normalized form, with or without a build number', () => {
    expect(readWheelName('Foo.Bar_baz-1.0+local-1-py3-none-any.whl')).toMatchObject({
      name: 'foo-bar-baz',
      version: '1.0+local',
      platforms: ['any'],
    });
    expect(readWheelName('mlx-0.31.2.tar.gz')).toBeUndefined();
  });

  it.each([
    ['cpython-3.12.12+20251120-aarch64-apple-darwin-install_only_stripped.tar.gz', true],
    ['cpython-3.12.1+20251120-aarch64-apple-darwin-install_only.tar.gz', false],
    ['cpython-3.13.1+20251120-aarch64-apple-darwin-install_only_stripped.tar.gz', false],
    ['cpython-3.12.12+20251120-x86_64-apple-darwin-install_only_stripped.tar.gz', false],
  ])('shows whether it is an archive of Python 3.12: %s, %s', (file, is) => {
    expect(isPythonArchive(file, '3.12')).toBe(is);
  });
});

const runtime: MlxRuntime = {
  driver: 'mlx',
  name: 'mlx',
  archive: './uv.tar.gz',
  extras: [{ name: 'requirements.lock', source: './requirements.lock' }],
  python: '3.12',
  wheels: './wheels',
};
const python = 'cpython-3.12.12+20251120-aarch64-apple-darwin-install_only_stripped.tar.gz';
const good = {
  [python]: digestOf('python'),
  'mlx-0.31.2-cp312-cp312-macosx_14_0_arm64.whl': digestOf('mlx'),
  'mlx_lm-0.31.3-py3-none-any.whl': digestOf('mlx-lm'),
};
const line = (words: string, ...hashes: readonly Digest[]) =>
  `${words}${hashes.map((hash) => ` --hash=sha256:${hash}`).join('')}\n`;
const list = line('mlx==0.31.2', digestOf('other'), digestOf('mlx')) + line('mlx-lm==0.31.3', digestOf('mlx-lm'));

const folderOf = (files: Readonly<Record<string, Digest>>): FolderFact => ({
  kind: 'known',
  files: Object.entries(files).map(([path, sha256]) => ({ path, sha256, sizeBytes: 10 })),
});

interface Given {
  readonly folder?: FolderFact;
  readonly text?: string;
  readonly runtimeFiles?: ClusterLock['runtimeFiles'];
}

/** The settled runtime with this folder and this list. */
function settle({ folder = folderOf(good), text = list, runtimeFiles }: Given = {}) {
  const archives: SourceFacts['archives'] = {
    mlx: { kind: 'known', sha256: digestOf('uv'), sizeBytes: 1 },
    'mlx/requirements.lock': { kind: 'known', sha256: digestOf(text), sizeBytes: 1, text },
  };
  const lock = { ...emptyLock('cluster.yaml'), ...(runtimeFiles === undefined ? {} : { runtimeFiles }) };
  const from = { lock, sources: { archives, folders: { 'mlx/wheels': folder } }, baseFolder: '/rack' };
  const wheeled = settleWheels(runtime, from);
  const settled = settleRuntime(wheeled.runtime, { ...from, sources: wheeled.sources });
  return {
    digest: settled.wanted.digest,
    extras: settled.wanted.extras.map(({ name }) => name),
    sources: settled.wanted.extras.map(({ source }) => source),
    locked: Object.keys(settled.lockedExtras),
    reported: wheeled.diagnostics.map(({ code }) => code),
  };
}

describe('a folder of wheels', () => {
  it("adds its locked files and changes the runtime's version", () => {
    const { extras, sources, locked, reported, digest } = settle();
    expect(reported).toEqual([]);
    expect(extras).toEqual(['requirements.lock', ...Object.keys(good)]);
    expect(sources.at(-1)).toBe('/rack/wheels/mlx_lm-0.31.3-py3-none-any.whl');
    expect(locked).toEqual(extras.map((name) => `mlx/${name}`));
    expect(settle({ folder: folderOf({ ...good, [python]: digestOf('newer') }) }).digest).not.toBe(digest);
  });

  it('adds only wheels that fit a Mac and whose hash is in the list', () => {
    const more = {
      ...good,
      'README.md': digestOf('mlx'),
      'other-1.0-py3-none-any.whl': digestOf('mlx'),
      'mlx-0.31.2-cp312-cp312-manylinux_2_27_aarch64.whl': digestOf('other'),
      'sub/mlx_lm-0.31.3-py3-none-any.whl': digestOf('mlx-lm'),
    };
    expect(settle({ folder: folderOf(more) })).toEqual(settle());
  });

  it.each([
    ['no wheel', []],
    ['a different version', [['mlx_lm-0.31.2-py3-none-any.whl', digestOf('mlx-lm')]]],
    ['different bytes', [['mlx_lm-0.31.3-py3-none-any.whl', digestOf('changed')]]],
    ['a wheel for a different Python', [['mlx_lm-0.31.3-cp313-cp313-macosx_14_0_arm64.whl', digestOf('mlx-lm')]]],
  ] as const)('is refused with %s of a package', (_, files) => {
    const { 'mlx_lm-0.31.3-py3-none-any.whl': __, ...rest } = good;
    const { reported } = settle({ folder: folderOf({ ...rest, ...Object.fromEntries(files) }) });
    expect(reported).toEqual(['mlx/wheel-missing']);
  });

  it('needs no package for other systems, and is refused with a package at a URL', () => {
    const hash = digestOf('x');
    expect(settle({ text: list + line("uvloop==1.0 ; sys_platform == 'linux'", hash) }).reported).toEqual([]);
    const atUrl = line('fork @ https://example.org/fork-1.0-py3-none-any.whl', hash);
    expect(settle({ text: list + atUrl }).reported).toEqual(['mlx/wheel-missing']);
  });

  it('must contain Python', () => {
    const { [python]: _, ...rest } = good;
    expect(settle({ folder: folderOf(rest) }).reported).toEqual(['mlx/python-missing']);
  });

  it('is taken from the lock if it cannot be read, and refused without a lock entry', () => {
    const folder: FolderFact = { kind: 'missing', detail: '/rack/wheels is not there.' };
    expect(settle({ folder }).reported).toEqual(['mlx/wheels-unreadable']);
    const runtimeFiles = Object.fromEntries(
      Object.entries(good).map(([name, sha256]) => [`mlx/${name}`, { sha256, sizeBytes: 10 }]),
    );
    expect(settle({ folder, runtimeFiles })).toMatchObject({ reported: [], digest: settle().digest });
  });
});

onOnePage('settle-wheels');
