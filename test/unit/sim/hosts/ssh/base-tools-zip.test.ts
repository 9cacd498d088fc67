import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { crc32, deflateRawSync } from 'node:zlib';
import { beforeEach, describe, expect, it } from 'vitest';
import { shared } from '../../../../rack/kept-running.ts';
import { bareNode } from '../bare-node.ts';

interface Entry {
  readonly path: string;
  readonly text: string;
  readonly mode: number;
  readonly isPacked: boolean;
}

const numbers = (...fields: readonly (readonly [value: number, bytes: 2 | 4])[]): Buffer =>
  Buffer.concat(
    fields.map(([value, bytes]) => {
      const buffer = Buffer.alloc(bytes);
      buffer.writeUIntLE(value, 0, bytes);
      return buffer;
    }),
  );

/** A zip archive (APPNOTE 4.3): local headers with data, the directory, its end. */
function zip(entries: readonly Entry[]): Buffer {
  const locals: Buffer[] = [];
  const directory: Buffer[] = [];
  for (const { path, text, mode, isPacked } of entries) {
    const data = isPacked ? deflateRawSync(text) : Buffer.from(text);
    const name = Buffer.from(path);
    const sizes = numbers([crc32(text), 4], [data.length, 4], [Buffer.byteLength(text), 4], [name.length, 2], [0, 2]);
    const common = numbers([20, 2], [0, 2], [isPacked ? 8 : 0, 2], [0, 4]);
    const start = Buffer.concat(locals).length;
    locals.push(numbers([0x04034b50, 4]), common, sizes, name, data);
    const rest = numbers([0, 2], [0, 2], [0, 2], [mode * 65_536, 4], [start, 4]);
    directory.push(numbers([0x02014b50, 4], [0x031e, 2]), common, sizes, rest, name);
  }
  const [body, list] = [Buffer.concat(locals), Buffer.concat(directory)];
  const count = entries.length;
  const end = numbers([0x06054b50, 4], [0, 4], [count, 2], [count, 2], [list.length, 4], [body.length, 4], [0, 2]);
  return Buffer.concat([body, list, end]);
}

const node = shared(bareNode);
beforeEach(async () => {
  await rm(node.home('to'), { recursive: true, force: true });
  await node.sh('mkdir to');
});

const rank: Entry = { path: 'bin/rank', text: '#!/bin/sh\n'.repeat(99), mode: 0o100755, isPacked: true };
const note: Entry = { path: 'note', text: 'plain', mode: 0o100640, isPacked: false };

describe.runIf(process.platform === 'linux')("a simulated node's tar with a zip archive", () => {
  it('lists the names', async () => {
    await writeFile(node.home('a.zip'), zip([rank, note]));
    expect(await node.sh('tar -tf a.zip')).toEqual({ code: 0, out: 'bin/rank\nnote\n', err: '', unknown: '' });
  });

  it('unpacks compressed and stored entries with permissions', async () => {
    await writeFile(node.home('a.zip'), zip([{ ...note, path: 'bin/', text: '', mode: 0o040755 }, rank, note]));
    expect(await node.sh('tar -xf a.zip -C to')).toEqual({ code: 0, out: '', err: '', unknown: '' });
    expect(await readFile(node.home('to/bin/rank'), 'utf8')).toBe(rank.text);
    expect(await readFile(node.home('to/note'), 'utf8')).toBe('plain');
    expect([
      (await stat(node.home('to/bin/rank'))).mode & 0o777,
      (await stat(node.home('to/note'))).mode & 0o777,
    ]).toEqual([0o755, 0o640]);
  });

  it('rejects a path outside the folder', async () => {
    await writeFile(node.home('a.zip'), zip([{ ...note, path: '../out' }]));
    expect(await node.sh('tar -xf a.zip -C to')).toEqual({
      code: 1,
      out: '',
      err: "tar: ../out: Path contains '..'\n",
      unknown: '',
    });
  });

  it('fails on a full disk and on a truncated archive', async () => {
    await writeFile(node.home('a.zip'), zip([{ ...rank, text: 'x'.repeat(9_000) }]));
    await node.setState('room', '1024\n');
    expect((await node.sh('tar -xf a.zip -C to')).err).toBe('bin/rank: Write failed: No space left on device\n');
    await rm(`${node.root}/.sim/room`);
    await writeFile(node.home('b.zip'), zip([rank]).subarray(0, -30));
    expect((await node.sh('tar -xf b.zip -C to')).err).toBe(
      'tar: Error opening archive: Unrecognized archive format\n',
    );
  });
});
