import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { doubleText } from '../../../../src/sim/doubles/double-files.ts';
import { writeReferenceArchive, writeTinyModel } from '../../../../src/sim/doubles/reference.ts';
import { tarGz } from '../../../../src/sim/doubles/tar-gz.ts';
import { sharedFolder } from '../../../rack/kept-running.ts';

const folder = sharedFolder('mw-reference-');

const source = doubleText('ranks/rank.pl');

describe('the reference runtime archive', () => {
  it('is reproducible, with its digests and sizes', async () => {
    const one = await writeReferenceArchive(join(folder, 'a', 'reference.tar.gz'));
    const other = await writeReferenceArchive(join(folder, 'b.tar.gz'));
    const bytes = await readFile(join(folder, 'b.tar.gz'));
    expect(bytes.equals(await readFile(join(folder, 'a', 'reference.tar.gz')))).toBe(true);
    expect({ ...one, path: 'b.tar.gz' }).toEqual(other);
    expect(other).toEqual({
      path: 'b.tar.gz',
      sha256: createHash('sha256').update(bytes).digest('hex'),
      sizeBytes: bytes.length,
    });
  });

  it('uses only core Perl modules and no other program', () => {
    const modules = [...source.matchAll(/^use ([A-Za-z:]+)/gm)].map(([, name]) => name);
    const core = ['strict', 'warnings', 'Digest::SHA', 'IO::Select', 'IO::Socket::INET', 'JSON::PP', 'Time::HiRes'];
    expect(modules).toEqual(core);
    const code = source.replaceAll(/^\s*#.*$/gm, '');
    expect(code).not.toMatch(/`|\bqx\b|\bsystem\b|\bexec\b/);
  });

  it('preserves files larger than one stored block', async () => {
    const content = Buffer.alloc(200_000, 'abc');
    await writeFile(join(folder, 'big.tar.gz'), tarGz([{ path: 'big', mode: 0o644, content }]));
    const read = spawnSync('tar', ['-xzOf', join(folder, 'big.tar.gz'), 'big'], { maxBuffer: 1_000_000 });
    expect([read.status, content.equals(read.stdout)]).toEqual([0, true]);
  });
});

describe('the tiny model', () => {
  it('is reproducible, with its digests and sizes', async () => {
    const one = await writeTinyModel(join(folder, 'm1'));
    expect(await writeTinyModel(join(folder, 'm2'))).toEqual(one);
    for (const { path, sha256, sizeBytes } of one) {
      const bytes = await readFile(join(folder, 'm1', path));
      expect([bytes.length, createHash('sha256').update(bytes).digest('hex')]).toEqual([sizeBytes, sha256]);
    }
    expect(one.map(({ path }) => path)).toEqual([
      'config.json',
      'model-00001-of-00002.safetensors',
      'model-00002-of-00002.safetensors',
    ]);
  });

  it('has the requested number of weight bytes and a matching header', async () => {
    await writeTinyModel(join(folder, 'm3'), 10_000);
    const bytes = await readFile(join(folder, 'm3', 'model-00002-of-00002.safetensors'));
    const end = 8 + Number(bytes.readBigUInt64LE());
    const header = JSON.parse(bytes.subarray(8, end).toString());
    expect(header).toEqual({ 'layers.1.weight': { dtype: 'U8', shape: [5_000], data_offsets: [0, 5_000] } });
    expect(bytes.length - end).toBe(5_000);
  });
});
