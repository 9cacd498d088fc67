import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { archiveOf, isUrl, nodeReleases, pageEntry, releaseName } from '../../../src/desired/releases.ts';
import { exoReleases } from '../../../src/drivers/exo/releases.ts';
import { llamaReleases } from '../../../src/drivers/llamacpp/releases.ts';
import { uvArchive } from '../../../src/drivers/mlx/runtime.ts';
import { sectionsOf } from '../../case-file.ts';

const cases = join(import.meta.dirname, '../../cases/releases');
const read = (file: string) => sectionsOf(readFileSync(join(cases, file), 'utf8'), ['page', 'expected']);
const pageOf = (name: string): string => read(`${name}.txt`).get('page') ?? '';

describe('a release page', () => {
  it.each(readdirSync(cases))('is read as expected in the case %s', (name) => {
    const sections = read(name);
    const page = sections.get('page') ?? '';
    const { archive, entry } = JSON.parse(sections.get('expected') ?? '');
    expect(pageEntry({ kind: page.startsWith('{') ? 'github' : 'shasums', name: archive }, page)).toEqual(entry);
  });

  it.each(['', 'not JSON', '[]', '{"assets": 1}', `${'0'.repeat(63)}  a.tar.gz`])('is garbled: %j', (text) => {
    expect(pageEntry({ kind: 'github', name: 'a' }, text)).toEqual({ kind: 'garbled' });
    expect(pageEntry({ kind: 'shasums', name: 'a.tar.gz' }, text)).toEqual({ kind: 'garbled' });
  });

  it('may list a single file, and a size only if it is a positive whole number', () => {
    const line = `${'0'.repeat(64)} *a\n`;
    expect(pageEntry({ kind: 'shasums', name: 'a' }, line)).toEqual({ kind: 'found', sha256: '0'.repeat(64) });
    const sizeOf = (size: unknown) =>
      pageEntry({ kind: 'github', name: 'a' }, JSON.stringify({ assets: [null, { name: 'b' }, { name: 'a', size }] }));
    const found = { kind: 'found' };
    expect([1, 0, 1.5, '1'].map(sizeOf)).toEqual([{ ...found, sizeBytes: 1 }, found, found, found]);
  });
});

describe('the known releases', () => {
  it('have the digests of their release pages', () => {
    for (const [archive, text] of [
      [exoReleases.archive('1.0.71'), pageOf('exo-1.0.71')],
      [llamaReleases.archive('b10950'), pageOf('llama-b10950')],
      [nodeReleases.archive(nodeReleases.example), pageOf('node-22.22.0')],
    ] as const) {
      expect(archive.known).toBeDefined();
      expect(archive.page && pageEntry(archive.page, text)).toEqual({ kind: 'found', ...archive.known });
    }
  });

  it('have versions of the right form as examples', () => {
    for (const { form, example } of [exoReleases, llamaReleases, nodeReleases]) expect(example).toMatch(form);
    expect(uvArchive.known?.sha256).toMatch(/^66e37d91/);
  });
});

describe('the archive of a version', () => {
  const github = 'https://github.com/ggml-org/llama.cpp/releases/download';

  it('follows from a version that is not in the list', () => {
    expect(exoReleases.archive('1.0.72')).toEqual({
      url: 'https://github.com/exo-explore/exo/releases/download/v1.0.72/EXO-1.0.72.dmg',
      page: {
        kind: 'github',
        url: 'https://api.github.com/repos/exo-explore/exo/releases/tags/v1.0.72',
        name: 'EXO-1.0.72.dmg',
      },
    });
    expect(llamaReleases.archive('v0.5.0').url).toBe(`${github}/v0.5.0/llama-v0.5.0-bin-macos-arm64.tar.gz`);
    expect(nodeReleases.archive('24.1.0').page?.url).toBe('https://nodejs.org/dist/v24.1.0/SHASUMS256.txt');
  });

  it('is a zip before llama.cpp changed its format', () => {
    expect(llamaReleases.archive('b7799').url).toBe(`${github}/b7799/llama-b7799-bin-macos-arm64.zip`);
    expect(llamaReleases.archive('b7800').url).toBe(`${github}/b7800/llama-b7800-bin-macos-arm64.tar.gz`);
  });

  it('comes from the mirror, and keeps its own URL for the lock', () => {
    const mirror = 'http://mirror.lan/all';
    const { archive, release } = archiveOf(undefined, exoReleases.archive('1.0.71'), { mirror, plainHttp: 'allowed' });
    expect(isUrl(archive)).toBe(true);
    expect(release).toMatchObject({
      url: archive,
      from: `${mirror}/github.com/exo-explore/exo/releases/download/v1.0.71/EXO-1.0.71.dmg`,
      page: { url: `${mirror}/api.github.com/repos/exo-explore/exo/releases/tags/v1.0.71` },
      plainHttp: true,
    });
  });

  it('is replaced by the archive in the file', () => {
    const published = exoReleases.archive('1.0.71');
    expect(archiveOf('./own.dmg', published, undefined)).toEqual({ archive: './own.dmg' });
    expect(archiveOf(undefined, undefined, undefined)).toEqual({ archive: '' });
    expect(archiveOf('https://a.lan/own.dmg', published, undefined).release).toEqual({
      url: 'https://a.lan/own.dmg',
      from: 'https://a.lan/own.dmg',
    });
  });

  it('is named by its version', () => {
    expect(releaseName(exoReleases.archive('1.0.71').url)).toBe('1.0.71');
    expect(releaseName(llamaReleases.archive('b9000').url)).toBe('b9000');
    expect(releaseName(nodeReleases.archive('22.22.0').url)).toBe('22.22.0');
    expect(releaseName('https://a.lan/own.dmg')).toBe('https://a.lan/own.dmg');
  });
});
