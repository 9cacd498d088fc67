import { createHash } from 'node:crypto';
import { mkdirSync, symlinkSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readArchive, readFolder } from '../../../../src/cli/sources/controller-source.ts';
import { isTreePath } from '../../../../src/desired/tree-paths.ts';
import { temporaryFolder } from '../../../temporary-folder.ts';

const { at, write } = temporaryFolder();
const sha256 = (text: string | Uint8Array): string => createHash('sha256').update(text).digest('hex');
const { signal } = new AbortController();

describe('an archive', () => {
  it('has a digest and a size, even if it is read in parts', async () => {
    const bytes = Buffer.alloc(2_500_000, 'abc');
    const large = { kind: 'known', sha256: sha256(bytes), sizeBytes: 2_500_000 };
    expect(await readArchive(write('large', bytes), signal)).toEqual(large);
    const empty = { kind: 'known', sha256: sha256(''), sizeBytes: 0, text: '' };
    expect(await readArchive(write('empty', ''), signal)).toEqual(empty);
  });

  it('is reported as missing or as unreadable', async () => {
    const absent = { kind: 'missing', detail: `${at('absent')} does not exist.` };
    expect(await readArchive(at('absent'), signal)).toEqual(absent);
    const folder = { kind: 'unreadable', detail: `${at('.')} cannot be read: it is a folder.` };
    expect(await readArchive(at('.'), signal)).toEqual(folder);
  });

  it('is not read after an interruption', async () => {
    await expect(readArchive(write('some', 'x'), AbortSignal.abort())).rejects.toThrow('aborted');
  });
});

describe('a model folder', () => {
  it('lists every file in it by path, except .DS_Store', async () => {
    for (const name of ['model/b', 'model/a', 'model/deep/er/c', 'model/.DS_Store']) write(name, name);
    symlinkSync(at('model/b'), at('model/link'));
    const fact = await readFolder(at('model'), signal);
    expect(fact).toEqual({
      kind: 'known',
      files: [
        ['a', 'model/a'],
        ['b', 'model/b'],
        ['deep/er/c', 'model/deep/er/c'],
        ['link', 'model/b'],
      ].map(([path = '', text = '']) => ({ path, sha256: sha256(text), sizeBytes: text.length })),
    });
    expect(fact.kind === 'known' && fact.files.every(({ path }) => isTreePath(path))).toBe(true);
  });

  it('is rejected if it contains a link to a folder, because such a link could create a loop', async () => {
    mkdirSync(at('looped'));
    symlinkSync(at('looped'), at('looped/again'));
    expect(await readFolder(at('looped'), signal)).toMatchObject({ kind: 'unreadable' });
  });

  it('is rejected if a link leads out of the folder, because nodes would then publish a private file', async () => {
    mkdirSync(at('cloned'));
    symlinkSync('../large', at('cloned/config.json'));
    expect(await readFolder(at('cloned'), signal)).toMatchObject({
      kind: 'unreadable',
      detail: expect.stringContaining('config.json is a link that leads out of it'),
    });
  });

  it('is reported as missing', async () => {
    expect(await readFolder(at('nowhere'), signal)).toMatchObject({ kind: 'missing' });
  });
});
