import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { replaceFile } from '../../../../src/cli/files/write-file.ts';
import { runModule } from '../../own-process.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'mw-write-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('replaceFile', () => {
  it('creates or replaces the whole file, and leaves no other file', () => {
    const path = join(folder, 'cluster.lock');
    replaceFile(path, 'first\n');
    replaceFile(path, 'second\n', 0o600);
    expect([readFileSync(path, 'utf8'), statSync(path).mode & 0o777, readdirSync(folder)]).toEqual([
      'second\n',
      0o600,
      ['cluster.lock'],
    ]);
  });

  it('keeps the old file and leaves no other file if it cannot write', () => {
    const path = join(folder, 'taken');
    mkdirSync(path);
    writeFileSync(join(path, 'inside'), 'kept');
    expect(() => replaceFile(path, 'x')).toThrowError(/^cli\/cannot-write: /);
    expect(() => replaceFile(join(folder, 'nowhere', 'x'), 'x')).toThrowError(/^cli\/cannot-write: /);
    expect([readFileSync(join(path, 'inside'), 'utf8'), readdirSync(folder)]).toEqual(['kept', ['taken']]);
  });

  it('keeps the old text if only part of the new text fits on the disk', async () => {
    const path = join(folder, 'cluster.lock');
    replaceFile(path, 'old\n');
    const module = `import { replaceFile } from './src/cli/files/write-file.ts';
try { replaceFile(${JSON.stringify(path)}, 'y'.repeat(100_000)); } catch (error) { console.log(error.message); }`;
    const { said } = await runModule(module, 'ulimit -f 8');
    expect(said).toContain('cli/cannot-write');
    expect([readFileSync(path, 'utf8'), readdirSync(folder)]).toEqual(['old\n', ['cluster.lock']]);
  });
});
