import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  closeSync,
  existsSync,
  ftruncateSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { listName, sealName } from '../../../../src/node/paths/own-paths.ts';
import { hashProgram } from '../../../../src/rack/keeper/hash-models-script.ts';
import { keepText } from '../../../../src/rack/keeper/program-script.ts';
import { makeMacRoot, ours } from './mac-root.ts';
import { removedAfter } from './node-root.ts';
import { scriptShells } from './shells.ts';

const mebi = 1_048_576;
const day = 86_400;
const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

const sha256 = (bytes: Uint8Array | string): string => createHash('sha256').update(bytes).digest('hex');

type Contents = Readonly<Record<string, Uint8Array | string>>;

/** The digest of a version; only its first 16 digits matter. */
const digestOf = (name: string): string => sha256(name);
const versionOf = (name: string): string => `${name}/${digestOf(name).slice(0, 16)}`;

/** A node with models, which were published two days ago, and a clock. */
class Node {
  readonly folder = mkdtempSync(join(tmpdir(), "hash it's "));
  now = Math.floor(Date.now() / 1_000) + 2 * day;

  constructor() {
    folders.push(this.folder);
    mkdirSync(join(this.folder, 'own'));
  }

  path(name: string, file: string): string {
    return join(this.folder, 'models', versionOf(name), file);
  }

  publish(name: string, contents: Contents, sizes: Readonly<Record<string, number>> = {}): void {
    const lines = Object.entries(contents).map(([file, bytes]) => {
      mkdirSync(dirname(this.path(name, file)), { recursive: true });
      writeFileSync(this.path(name, file), bytes);
      const size = sizes[file] ?? bytes.length;
      const opened = openSync(this.path(name, file), 'r+');
      ftruncateSync(opened, size);
      closeSync(opened);
      utimesSync(this.path(name, file), 1_700_000_000, 1_700_000_000);
      return `${sha256(bytes)} ${size} ${file}\n`;
    });
    writeFileSync(this.path(name, listName), lines.join(''));
    writeFileSync(this.path(name, sealName), `digest=${digestOf(name)}\nfiles=${lines.length + 1}\n`);
  }

  /** One round after this many seconds; returns the lines for the keeper's log. */
  round(seconds = 60): readonly string[] {
    this.now += seconds;
    const own = ['hashed', 'hashing'].map((file) => join(this.folder, 'own', file));
    const words = ['-e', hashProgram, '--', join(this.folder, 'models'), ...own, String(this.now)];
    const { stdout, stderr, status } = spawnSync('perl', words, { encoding: 'utf8' });
    expect([status, stderr]).toEqual([0, '']);
    return stdout.split('\n').slice(0, -1);
  }

  own(file: string): string | undefined {
    const path = join(this.folder, 'own', file);
    return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
  }

  seal = (name: string): string => readFileSync(this.path(name, sealName), 'utf8');

  offset = (): number => Number(/^offset=(\d+)$/m.exec(this.own('hashing') ?? '')?.[1] ?? 0);

  /** Changes one byte, without a trace in size and times. */
  flip(name: string, file: string, at: number): void {
    const bytes = readFileSync(this.path(name, file));
    const { atime, mtime } = lstatSync(this.path(name, file));
    bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
    writeFileSync(this.path(name, file), bytes);
    utimesSync(this.path(name, file), atime, mtime);
  }
}

const big = Buffer.alloc(3 * mebi, 'meshwright ');

describe('the hashing of published models', () => {
  it('continues mid-file until a version is complete, and then skips that version for a day', () => {
    const node = new Node();
    node.publish('big', { 'a.bin': big, 'b/c.json': '{}' });
    expect(node.round()).toEqual([]);
    expect(node.offset()).toBeGreaterThanOrEqual(mebi);
    expect(node.own('hashed')).toBeUndefined();
    for (let rounds = 0; rounds < 3; rounds += 1) expect(node.round()).toEqual([]);
    const hashed = node.own('hashed');
    expect(hashed).toMatch(new RegExp(`^${versionOf('big')}=\\d+\n$`));
    node.round();
    expect([node.own('hashed'), node.own('hashing')]).toEqual([hashed, undefined]);
    node.round(day);
    expect(node.offset()).toBeGreaterThanOrEqual(mebi);
  });

  it('seals a version with a flipped byte as wrong, and records the file and the time', () => {
    const node = new Node();
    node.publish('big', { 'a.bin': big, "it's odd/b c": 'xy' });
    node.flip('big', "it's odd/b c", 1);
    expect([1, 2, 3, 4].flatMap(() => node.round())).toEqual([`model ${versionOf('big')} wrong=it's odd/b c`]);
    expect(node.seal('big')).toMatch(
      new RegExp(`^digest=wrong\nfiles=0\nbytes=${3 * mebi + 2}\nwrong.1=it's odd/b c\nfound=\\d{10}\n$`),
    );
    expect(node.round(2 * day)).toEqual([]);
  });

  it.each<readonly [string, (node: Node) => void]>([
    ['is missing', (node) => rmSync(node.path('big', 'a.bin'))],
    ['is shorter', (node) => writeFileSync(node.path('big', 'a.bin'), 'x')],
    [
      'became a folder',
      (node) => {
        rmSync(node.path('big', 'a.bin'));
        mkdirSync(node.path('big', 'a.bin'));
      },
    ],
  ])('reports a file as wrong if it %s', (_what, damage) => {
    const node = new Node();
    node.publish('big', { 'a.bin': big });
    damage(node);
    expect(node.round()).toEqual([`model ${versionOf('big')} wrong=a.bin`]);
  });

  it('does not report an unreadable file as wrong, and tries the file again a day later', () => {
    const node = new Node();
    node.publish('big', { 'a.bin': 'x' });
    // No file can have a name of 300 bytes, so looking for it fails.
    const long = 'x'.repeat(300);
    writeFileSync(node.path('big', listName), `${sha256('x')} 1 ${long}\n`);
    expect(node.round()).toEqual([`model ${versionOf('big')} unread=${long}`]);
    expect(node.seal('big')).toContain(`digest=${digestOf('big')}`);
    expect(node.own('hashed')).toMatch(new RegExp(`^${versionOf('big')}!\\d+\n$`));
    expect(node.round()).toEqual([]);
    expect(node.round(day)).toHaveLength(1);
  });

  it.each<readonly [string, (node: Node) => void]>([
    ['changed', (node) => writeFileSync(node.path('big', 'a.bin'), Buffer.from(big).fill('other', 0, 100))],
    [
      'replaced by its copy',
      (node) => {
        rmSync(node.path('big', 'a.bin'));
        writeFileSync(node.path('big', 'a.bin'), big);
      },
    ],
  ])('starts over on a file that was %s between two rounds', (what, change) => {
    const node = new Node();
    node.publish('big', { 'a.bin': big });
    node.round();
    node.round();
    expect(node.offset()).toBeGreaterThanOrEqual(2 * mebi);
    change(node);
    node.round();
    expect(node.offset()).toBeLessThan(2 * mebi);
    const rest = [...node.round(), ...node.round(), ...node.round()];
    expect(rest).toEqual(what === 'changed' ? [`model ${versionOf('big')} wrong=a.bin`] : []);
    expect(node.own('hashed') === undefined).toBe(what === 'changed');
  });

  it.each<readonly [string, (text: string) => string]>([
    ['truncated', (text) => text.slice(0, text.length / 2)],
    ['of zeros', (text) => '\0'.repeat(text.length)],
    ['empty', () => ''],
    ['from a different digest', (text) => text.replace(/H:../, 'H:00')],
    ['that claims another place', (text) => text.replace(/offset=\d+/, 'offset=7')],
  ])('starts over on a version after reading a saved state %s', (_what, spoil) => {
    const node = new Node();
    node.publish('big', { 'a.bin': big });
    node.round();
    node.round();
    const path = join(node.folder, 'own/hashing');
    writeFileSync(path, spoil(readFileSync(path, 'utf8')));
    expect(node.round()).toEqual([]);
    expect(node.offset()).toBeLessThan(2 * mebi);
    expect([1, 2, 3].flatMap(() => node.round())).toEqual([]);
    expect(node.own('hashed')).toContain(versionOf('big'));
  });

  it('starts over on a version that was republished, and skips versions without a list', () => {
    const node = new Node();
    node.publish('big', { 'a.bin': big });
    node.publish('old', { 'a.bin': 'x' });
    rmSync(node.path('old', listName));
    node.publish('wrong', { 'a.bin': 'x' });
    writeFileSync(node.path('wrong', sealName), 'digest=wrong\nfiles=0\n');
    node.round();
    node.round();
    utimesSync(node.path('big', sealName), node.now - 2 * day, node.now - 2 * day);
    node.round();
    expect(node.offset()).toBeLessThan(2 * mebi);
    for (let rounds = 0; rounds < 3; rounds += 1) node.round();
    expect(node.own('hashed')).toMatch(new RegExp(`^${versionOf('big')}=\\d+\n$`));
  });

  it('forgets when a version was last hashed if the version is republished', () => {
    const node = new Node();
    node.publish('small', { 'a.bin': 'x' });
    node.round();
    expect(node.own('hashed')).toContain(versionOf('small'));
    utimesSync(node.path('small', sealName), node.now + 30, node.now + 30);
    node.round();
    expect(node.own('hashed')).toBe('\n');
  });

  it('reads at least a thirtieth of all bytes per day, and catches up on at most ten minutes per round', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 1, max: 3 * day }), (gigabytes, pause) => {
        const node = new Node();
        const total = gigabytes * 1e9;
        // A file with a hole takes no disk.
        node.publish('huge', { 'a.bin': '' }, { 'a.bin': total });
        node.round();
        const first = node.offset();
        node.round(pause);
        const read = node.offset() - first;
        // Rounds that follow at once read no more than the first.
        node.round(1);
        node.round(1);
        expect(node.offset() - first - read).toBeLessThanOrEqual(2 * (total / (29 * day) + mebi));
        const counted = Math.min(pause, 600);
        expect(read).toBeGreaterThanOrEqual((total * counted) / (30 * day));
        expect(read).toBeLessThanOrEqual((total * counted) / (29 * day) + mebi);
      }),
      { numRuns: 6 },
    );
  });

  it('finds any flipped byte within the number of rounds that the total size requires', () => {
    const size = fc.oneof(fc.integer({ min: 0, max: 200 }), fc.integer({ min: mebi - 70, max: mebi + 70 }));
    const models = fc.array(fc.array(size, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(models, fc.nat(), (sizes, where) => {
        const node = new Node();
        const files = sizes.flatMap((of, model) =>
          of.map((bytes, at) => ({ model: `m${model}`, file: `f${at}`, bytes })),
        );
        for (const [model, of] of sizes.entries()) {
          node.publish(
            `m${model}`,
            Object.fromEntries(of.map((bytes, at) => [`f${at}`, Buffer.alloc(bytes, `${at}`)])),
          );
        }
        const total = files.reduce((sum, { bytes }) => sum + bytes, 0);
        const rounds = Math.floor(total / mebi) + 1;
        const cycle = () => Array.from({ length: rounds }, () => node.round()).flat();
        expect(cycle()).toEqual([]);
        expect(node.own('hashed')?.split(' ')).toHaveLength(sizes.length);
        const full = files.filter(({ bytes }) => bytes > 0);
        const { model, file, bytes } = full[where % Math.max(full.length, 1)] ?? { model: '', file: '', bytes: 0 };
        if (bytes > 0) node.flip(model, file, where % bytes);
        node.now += day;
        expect(cycle()).toEqual(bytes > 0 ? [`model ${versionOf(model)} wrong=${file}`] : []);
      }),
      { numRuns: 8 },
    );
  });
});

const newRoot = removedAfter(makeMacRoot);

describe.each(scriptShells)('the end of a keeper round in $name', (shell) => {
  const digest = digestOf('tiny');
  const folder = `opt/meshwright/models/tiny/${digest.slice(0, 16)}`;
  const prepared = () => {
    const root = newRoot(shell);
    root.tool('bin/date', `echo ${Math.floor(Date.now() / 1_000) + 2 * day}`);
    root.file(`${ours}/keeper/keep`, keepText);
    root.file(`${ours}/keeper/data`, 'wired 1\n');
    root.file(`${folder}/a`, 'xz');
    root.file(`${folder}/${listName}`, `${sha256('xy')} 2 a\n`);
    root.file(`${folder}/${sealName}`, `digest=${digest}\nfiles=2\n`);
    return root;
  };
  const round = (root: ReturnType<typeof prepared>) => {
    const words = [...shell.argv.slice(0, -1), join(root.folder, ours, 'keeper/keep')];
    return root.run(`exec ${words.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ')}\n`);
  };

  it('hashes models after its own work, and logs a wrong file', async () => {
    const root = prepared();
    expect(await round(root)).toMatchObject({ code: 0 });
    expect(root.read(`${folder}/${sealName}`)).toContain('wrong.1=a\n');
    expect(
      root
        .read(`${ours}/log/keeper`)
        .split('\n')
        .map((line) => line.replace(/^at=\d+ /, '')),
    ).toEqual(['wired-limit from=0 to=1', `model tiny/${digest.slice(0, 16)} wrong=a`, '']);
  });

  it('does its own work and succeeds even if the hashing fails', async () => {
    const root = prepared();
    root.tool('usr/bin/perl', 'exit 2');
    expect(await round(root)).toMatchObject({ code: 0 });
    expect(root.read(`${ours}/log/keeper`)).toContain('wired-limit from=0 to=1');
    expect(root.read(`${folder}/${sealName}`)).toContain(digest);
  });

  it('hashes nothing while a network change is in progress', async () => {
    const root = prepared();
    root.tool('usr/sbin/sysctl', `/bin/mkdir -p "$R/${ours}/transaction/pending"; printf '1\\n'`);
    expect(await round(root)).toMatchObject({ code: 0 });
    expect(root.read(`${folder}/${sealName}`)).toContain(digest);
  });
});
