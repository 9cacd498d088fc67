import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { type Canary, placesOf, searchText, searchTree } from '../../cli/canary.ts';

const canary: Canary = { name: 'a key', text: 'Cänary "1"\\/+&%-=>>>???~~~???>>>', mayBeIn: [/^its\/own$/] };
const [plain, url] = [canary.text, encodeURIComponent(canary.text)];
const base64 = (text: string): string => Buffer.from(text).toString('base64');

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

function folderWith(name: string, content: string | Buffer): string {
  const folder = mkdtempSync(join(tmpdir(), 'mw-canary-'));
  folders.push(folder);
  mkdirSync(join(folder, 'its', 'deep'), { recursive: true });
  writeFileSync(join(folder, name), content);
  return folder;
}

describe('the search for a canary', () => {
  it.each([
    ['plain', `before ${plain} after`],
    ['JSON', JSON.stringify({ key: plain })],
    ['JSON in JSON', JSON.stringify({ text: JSON.stringify({ key: plain }) })],
    ['URL', `http://x/?key=${url}`],
    ['form', new URLSearchParams({ key: plain }).toString()],
    ['XML', `<string>${plain.replaceAll('&', '&amp;').replaceAll('>', '&gt;')}</string>`],
    ['hex', `00${Buffer.from(plain).toString('hex')}`],
    ['base64', base64(plain)],
    ['base64', base64(`x:${plain}`)],
    ['base64', base64(`Bearer ${plain} `)],
    ['base64url', Buffer.from(`x:${plain}`).toString('base64url')],
  ])('finds the canary as %s in a nested file', (form, text) => {
    const bytes = Buffer.concat([Buffer.from([0, 255, 10]), Buffer.from(text), Buffer.from([0])]);
    expect(searchTree(folderWith('its/deep/file', bytes), [canary])).toEqual([
      { canary: 'a key', form, where: 'its/deep/file' },
    ]);
  });

  it('finds the canary in a file name and in a link target', () => {
    const short = { ...canary, text: 'canary-0123' };
    const folder = folderWith('its/canary-0123.log', '');
    symlinkSync('/nowhere/canary-0123', join(folder, 'link'));
    expect(
      searchTree(folder, [short])
        .map(({ where }) => where)
        .toSorted(),
    ).toEqual(['link', 'the name its/canary-0123.log']);
  });

  it('skips only its source file', () => {
    const folder = folderWith('its/own', plain);
    writeFileSync(join(folder, 'own'), plain);
    expect(searchTree(folder, [canary]).map(({ where }) => where)).toEqual(['own']);
    expect(placesOf(folder, canary)).toEqual(['its/own', 'own']);
  });

  it('finds nothing in similar text', () => {
    expect(searchText(`${plain.slice(1)} ${base64(plain.slice(3))} ${url.toLowerCase()}`, 'a text', [canary])).toEqual(
      [],
    );
  });
});
