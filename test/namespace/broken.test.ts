import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { beforeAll, expect, it } from 'vitest';
import { quote } from '../../src/node/quote.ts';
import { doubleText } from '../../src/sim/doubles/double-files.ts';
import { nodeDoubleFiles } from '../../src/sim/doubles/node-archive.ts';
import { tarGz } from '../../src/sim/doubles/tar-gz.ts';
import { shared } from '../rack/kept-running.ts';
import { filePart, first, pairFile, second } from '../scenarios/converge-file.ts';
import { patience } from '../scenarios/converge-rack.ts';
import { publish } from '../scenarios/published-sources.ts';
import { startNamespaceRack } from './rack.ts';
import { typedRack } from './typed.ts';

const ours = '/Library/Application Support/meshwright';

/** Paths that root reads or runs, and paths that grant access. */
const rootsOwn = [
  '/Library/LaunchDaemons',
  '/etc',
  '/etc/sudoers.d',
  ours,
  `${ours}/accounts`,
  `${ours}/placements/chat`,
  '/opt/meshwright/runtimes',
  '/opt/meshwright/models',
  '/Users/mesh/.ssh',
  '/Users/mesh/.ssh/authorized_keys',
];

/** Prints what its account can do as root, or to root's files and processes; then prints the account's name. */
const mightDo = `/usr/bin/sudo -n true 2>/dev/null && echo sudo
for f in ${rootsOwn.map((path) => `'${path}'`).join(' ')}; do
  [ ! -e "$f" ] || [ ! -w "$f" ] || echo "$f"
done
kill -0 1 2>/dev/null && echo signal
/usr/bin/id -un`;

const heardBy = (name: string): string => `/private/tmp/heard-${name}`;
const inPerl = (name: string): string => `system('/bin/sh', '-c', q(( ${mightDo} ) >${heardBy(name)}));\n`;

/** A program with these lines inserted after its first line. */
function broken(program: string, lines: string): Buffer {
  const end = program.indexOf('\n') + 1;
  return Buffer.from(program.slice(0, end) + lines + program.slice(end));
}

/** Packs the program into an archive with one file. */
function onlyFile(archive: Buffer): string {
  const tar = gunzipSync(archive);
  const size = Number.parseInt(tar.toString('latin1', 124, 135), 8);
  return tar.toString('utf8', 512, 512 + size);
}

const file = pairFile((one) => {
  publish(one);
  one['runtimes'] = {
    reference: { ...filePart(one, 'runtimes', 'reference'), archive: './dist/broken.tar.gz' },
    mlx: { driver: 'mlx', archive: './dist/broken-uv.tar.gz', python: '3.12', requirements: './requirements.lock' },
  };
  filePart(one, 'models')['llama'] = { source: './models/llama' };
  const placements = filePart(one, 'placements');
  placements['talk'] = { ...filePart(placements, 'chat'), model: 'llama', runtime: 'mlx', endpoint: { port: 8_081 } };
});

/** Writes a rank, a gateway and a uv that try to become root before they do their work. */
async function writeBroken(folder: string): Promise<void> {
  const write = (name: string, files: Parameters<typeof tarGz>[0]): Promise<void> =>
    writeFile(join(folder, 'dist', name), tarGz(files));
  const rank = doubleText('ranks/rank.pl');
  await write('broken.tar.gz', [{ path: 'bin/rank', mode: 0o755, content: broken(rank, inPerl('rank')) }]);
  const uv = onlyFile(await readFile(join(folder, 'dist/uv-aarch64-apple-darwin.tar.gz')));
  const path = 'uv-aarch64-apple-darwin/uv';
  await write('broken-uv.tar.gz', [{ path, mode: 0o755, content: broken(uv, inPerl('uv')) }]);
  const node = 'node-v22.0.0-darwin-arm64';
  const lines = `( ${mightDo} ) >${heardBy('gateway')}\n`;
  await write(
    `${node}.tar.gz`,
    nodeDoubleFiles(`${node}/bin/node`).map((one) => ({
      path: one.path,
      mode: 0o755,
      content: one.path.endsWith('/node') ? broken(one.text, lines) : Buffer.from(one.text),
    })),
  );
}

const rack = shared(() => startNamespaceRack('broken'));
beforeAll(async () => {
  await writeBroken(rack.folder);
  expect(await rack.declare(file)).toEqual([]);
  await rack.converge();
}, patience);

const all = ['sudo', ...rootsOwn, 'signal'];

it('root can do everything that the broken programs try', async () => {
  expect((await rack.asRoot(first, mightDo)).stdout.split('\n')).toEqual([...all, 'root', '']);
});

it.each([
  ['rank', first, '_meshrank'],
  ['rank', second, '_meshrank'],
  ['uv', first, '_meshrank'],
  ['gateway', first, '_meshgate'],
])(
  "a broken %s on %s cannot become root, write files that root reads, or signal root's processes",
  async (name, node, account) => {
    expect((await rack.asRoot(node, `cat ${heardBy(name)}`)).stdout).toBe(`${account}\n`);
  },
);

it.each(['_meshrank', '_meshgate'])('the account %s cannot do what the broken programs try', async (account) => {
  const output = await rack.asRoot(first, `/usr/bin/sudo -n -H -u ${account} sh -c ${quote(mightDo)}`);
  expect(output.stdout).toBe(`${account}\n`);
});

it(
  'a program started by launch cannot do what the broken programs try',
  async () => {
    const typed = typedRack(rack, file);
    const ran = await typed.type('launch', '--nodes', first, '--yes', '--', 'sh', '-c', mightDo);
    typed.end();
    expect([ran.code, ran.stdout]).toEqual([0, expect.stringContaining(`rank 0 ${first} | _meshrank\n`)]);
    for (const one of all) expect(ran.stdout).not.toContain(`| ${one}\n`);
  },
  patience,
);
