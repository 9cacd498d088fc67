import { lstatSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { scriptBody } from '../../src/engine/scripts/registry.ts';
import type { JobCall } from '../../src/model/node-script.ts';
import {
  sealName,
  stagedArchive,
  stagedExtra,
  stagedTree,
  stagingFolder,
  treeFolder,
} from '../../src/node/paths/own-paths.ts';
import { writeRequirements, writeUvArchive, writeWheels } from '../../src/sim/doubles/doubles.ts';
import { tarGz } from '../../src/sim/doubles/tar-gz.ts';
import { sharedFolder } from '../rack/kept-running.ts';
import { rulesTool } from '../unit/engine/scripts/directory-tool.ts';
import type { MacRoot } from '../unit/engine/scripts/mac-root.ts';
import { isVerified, makeJobRoot, runJob, sha256 } from '../unit/engine/scripts/run-job.ts';
import { exampleDigest } from '../unit/engine/scripts/script-examples.ts';
import { scriptShells } from '../unit/engine/scripts/shells.ts';

const folderOfBuilds = '/opt/meshwright/builds';
const tree = { kind: 'runtime', name: 'mlx', digest: exampleDigest } as const;
const [shell] = scriptShells;
if (shell === undefined) throw new Error('this computer has no shell');

const folder = sharedFolder('mw-build-');
let uv: Buffer;
let list = '';
const roots: MacRoot[] = [];
beforeAll(async () => {
  await writeUvArchive(join(folder, 'uv.tar.gz'));
  await writeRequirements(join(folder, 'requirements.lock'));
  await writeWheels(join(folder, 'wheels'));
  uv = await readFile(join(folder, 'uv.tar.gz'));
  list = await readFile(join(folder, 'requirements.lock'), 'utf8');
});
afterAll(async () => {
  for (const root of roots) root.remove();
});

interface Given {
  readonly archive?: Buffer;
  readonly requirements?: string;
  /** The declared contents of the list. */
  readonly declared?: string;
  readonly python?: string;
  readonly network?: string;
  /** Names of the wheels that are sent; absent if everything comes from the network. */
  readonly wheels?: readonly string[];
  readonly files?: Readonly<Record<string, string>>;
}

/** A node that received all files, and the job that builds the runtime from them. */
async function build({
  archive = uv,
  requirements = list,
  declared,
  python = '3.12',
  network,
  wheels,
  files = {},
}: Given = {}) {
  const root = makeJobRoot(shell as NonNullable<typeof shell>);
  roots.push(root);
  root.recorded('usr/bin/sudo', `if [ "$1" = -l ]; then ${rulesTool('$R/../s')}; else shift 4; exec "$@"; fi`);
  root.tool('usr/bin/env', 'exec /usr/bin/env "$@"');
  for (const [path, text] of Object.entries(files)) root.file(path, text);
  root.file(stagedArchive(tree, 'tar.gz').path, '');
  writeFileSync(join(root.folder, stagedArchive(tree, 'tar.gz').path), archive);
  root.file(stagedExtra(tree, 'requirements.lock').path, requirements);
  if (network !== undefined) root.file('/.sim/uv', network);
  const extras = [
    { name: 'requirements.lock', sha256: sha256(declared ?? requirements) },
    ...(wheels ?? []).map((name) => {
      const content = readFileSync(join(folder, 'wheels', name));
      root.file(stagedExtra(tree, name).path, '');
      writeFileSync(join(root.folder, stagedExtra(tree, name).path), content);
      return { name, sha256: sha256(content) };
    }),
  ];
  const call: JobCall = {
    name: 'build-python',
    args: {
      tree,
      archive: 'tar.gz',
      sha256: sha256(archive),
      extras,
      python,
      isOffline: wheels !== undefined,
      account: 'mesh',
    },
  };
  return { root, poll: await runJob(root, call) };
}

const inside = (root: MacRoot, path: string): string => join(root.folder, stagedTree(tree).path, path);

describe('the Python build job', () => {
  it('makes a complete tree whose paths all match its final location', async () => {
    const { root, poll } = await build();
    expect(poll).toMatchObject({ exit: 0 });
    expect(isVerified(root, tree)).toBe(true);
    const final = `${root.folder}${treeFolder(tree).path}/python/cpython-3.12.12-macos-aarch64-none/bin`;
    expect(readlinkSync(inside(root, 'venv/bin/python'))).toBe(`${final}/python3.12`);
    expect(readFileSync(inside(root, 'venv/pyvenv.cfg'), 'utf8')).toContain(`home = ${final}\n`);
    const { result } = await root.runBody(scriptBody({ name: 'publish-tree', args: { tree, jobs: [] } }));
    expect(result).toMatchObject({ isChanged: true });
    const published = join(root.folder, treeFolder(tree).path);
    expect(lstatSync(`${published}/venv/lib/python3.12/site-packages/mlx_lm-0.31.3.dist-info`).isDirectory()).toBe(
      true,
    );
    expect(readFileSync(`${published}/venv/bin/python`, 'utf8')).toMatch(/^#!\/usr\/bin\/perl/);
  });

  it('records the same result in the seal for the same wheels, and a different one for a different wheel', async () => {
    const seals = await Promise.all(
      [undefined, undefined, 'macosx_15_0_arm64\n'].map(async (network) => {
        const { root } = await build({ ...(network === undefined ? {} : { network }) });
        await root.runBody(scriptBody({ name: 'publish-tree', args: { tree, jobs: [] } }));
        return root
          .read(`${treeFolder(tree).path}/${sealName}`)
          .split('\n')
          .slice(2, -1);
      }),
    );
    const [one = [], other = [], odd = []] = seals;
    expect(one.map((line) => line.replace(/[0-9a-f]{64}$/, '…'))).toEqual([
      'python=cpython-3.12.12-macos-aarch64-none',
      'packages=…',
      'library.mlx.core.cpython-312-darwin.so=…',
      'library.mlx.lib.libjaccl.dylib=…',
      'library.mlx.lib.libmlx.dylib=…',
      'library.mlx.lib.mlx.metallib=…',
    ]);
    expect(other).toEqual(one);
    expect(odd.filter((line, at) => line !== one[at]).map((line) => line.split('=')[0])).toEqual([
      'packages',
      'library.mlx.lib.libjaccl.dylib',
      'library.mlx.lib.libmlx.dylib',
      'library.mlx.lib.mlx.metallib',
    ]);
  });

  it('installs everything from sent wheels and leaves none of them in the tree', async () => {
    const wheels = readdirSync(join(folder, 'wheels'));
    const offline = { network: 'offline\n', wheels };
    const { root, poll } = await build(offline);
    expect(poll).toMatchObject({ exit: 0 });
    expect(readdirSync(inside(root, '')).toSorted()).toEqual([
      'python',
      'requirements.lock',
      'uv-aarch64-apple-darwin',
      'venv',
    ]);
    for (const [lost, slug, text] of [
      ['numpy-', 'packages', 'numpy was not found in the provided package locations'],
      ['cpython-', 'python', 'No such file or directory'],
    ] as const) {
      const rest = wheels.filter((name) => !name.startsWith(lost));
      expect((await build({ ...offline, wheels: rest })).poll).toMatchObject({
        exit: 1,
        failure: { slug, text: expect.stringContaining(text) },
      });
    }
  });

  it('runs uv and its subprocesses as the account, and leaves no folder that the account owns', async () => {
    const { root } = await build();
    const asAccount = root.calls().flatMap((one) => (one.startsWith('sudo -n -H -u mesh ') ? [one] : []));
    const verbs = asAccount.map((one) => /\/(?:uv|bin)[ /](python|venv|pip|find|rm|tar) /.exec(one)?.[1]);
    expect(verbs).toEqual(['python', 'find', 'venv', 'pip', 'rm', 'tar']);
    expect(readdirSync(join(root.folder, stagingFolder(tree).path)).toSorted()).toEqual([
      'archive.tar.gz',
      'extra',
      'libraries',
      'tree',
      'verified',
    ]);
  });

  const madeBy = (last: string) =>
    tarGz([
      {
        path: 'uv/uv',
        mode: 0o755,
        content: Buffer.from(`#!/bin/sh
cd "$HOME" || exit
case $1 in
(python) mkdir -p python/cpython-3.12.12/bin; : >python/cpython-3.12.12/bin/python3.12 ;;
(venv) mkdir -p venv/bin venv/lib/python3.12/site-packages; : >venv/lib/python3.12/site-packages/a
  ln -s x venv/bin/python; : >venv/pyvenv.cfg ;;
(pip) ${last} ;;
esac
`),
      },
    ]);

  it.each([
    ['an outside link', 'ln -s /etc venv/etc', 'a link that leads out: venv/etc'],
    ['a folder that is a link', 'rm -r python; ln -s /etc python', 'a link that leads out: python'],
    ['a line break in a name', "/usr/bin/touch 'venv/a\nb'", 'a name with a line break: venv/a'],
    ['a pipe', '/usr/bin/mkfifo venv/pipe', 'what is neither file, folder nor link: venv/pipe'],
  ])('refuses a build that leaves %s', async (_, last, text) => {
    const { root, poll } = await build({ archive: madeBy(last) });
    expect(poll).toMatchObject({ failure: { slug: 'unsafe-archive', text: expect.stringContaining(text) } });
    expect(isVerified(root, tree)).toBe(false);
  });

  it('keeps no setuid bits set by the account and no files from an earlier attempt', async () => {
    const rest = `${folderOfBuilds}/runtime-mlx-${exampleDigest.slice(0, 16)}.old`;
    const { root, poll } = await build({
      archive: madeBy(': >venv/x; /bin/chmod 6755 venv/x'),
      files: { [`${rest}/venv/x`]: '' },
    });
    expect(poll).toMatchObject({ exit: 0 });
    expect(lstatSync(inside(root, 'venv/x')).mode & 0o7777).toBe(0o755);
    expect(readdirSync(join(root.folder, folderOfBuilds))).toEqual([]);
  });

  it('leaves no link that names the staging folder', async () => {
    const { root } = await build();
    expect(readdirSync(inside(root, 'python'))).toEqual(['cpython-3.12.12-macos-aarch64-none']);
  });

  it.each([
    ['a package without a hash', { requirements: 'mlx==0.31.2\n' }, 'packages', 'all requirements must have a hash'],
    [
      'a package with a different digest',
      { requirements: `mlx==0.31.2 --hash=sha256:${'0'.repeat(64)}\n` },
      'packages',
      'Hash mismatch for `mlx==0.31.2`',
    ],
    [
      'an unknown package',
      { requirements: `mlxx==0.31.2 --hash=sha256:${'0'.repeat(64)}\n` },
      'packages',
      'not found in the package registry',
    ],
    ['no network', { network: 'offline\n' }, 'python', 'failed to lookup address information'],
    ['an unknown Python version', { python: '3.99' }, 'python', 'No download found for request: 3.99'],
    ['a list that was changed in transit', { declared: 'other' }, 'wrong-digest', 'has the sha256'],
    [
      'an archive without uv',
      { archive: tarGz([{ path: 'bin/other', mode: 0o755, content: Buffer.from('x') }]) },
      'no-uv',
      'the archive has no program uv',
    ],
  ] as const)('fails and reports the reason if there is %s', async (_, given, slug, text) => {
    const { root, poll } = await build(given);
    expect(poll).toMatchObject({ state: 'ended', exit: 1, failure: { slug, text: expect.stringContaining(text) } });
    expect(isVerified(root, tree)).toBe(false);
  });
});
