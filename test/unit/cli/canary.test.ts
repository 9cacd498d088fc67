import { symlinkSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type Canary, placesOf, searchText, searchTree } from '../../cli/canary.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

const canary: Canary = { name: 'a key', text: 'Cänary "1"\\/+&%-=>>>???~~~???>>>', mayBeIn: [/^its\/own$/] };
const [plain, url] = [canary.text, encodeURIComponent(canary.text)];
const base64 = (text: string): string => Buffer.from(text).toString('base64');

const { at, write } = temporaryFolder();

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
    write('nested/its/deep/file', bytes);
    expect(searchTree(at('nested'), [canary])).toEqual([{ canary: 'a key', form, where: 'its/deep/file' }]);
  });

  it('finds the canary in a file name and in a link target', () => {
    const short = { ...canary, text: 'canary-0123' };
    write('names/its/canary-0123.log', '');
    symlinkSync('/nowhere/canary-0123', at('names/link'));
    const places = searchTree(at('names'), [short]).map(({ where }) => where);
    expect(places.toSorted()).toEqual(['link', 'the name its/canary-0123.log']);
  });

  it('skips only its source file', () => {
    for (const name of ['sources/its/own', 'sources/own']) write(name, plain);
    expect(searchTree(at('sources'), [canary]).map(({ where }) => where)).toEqual(['own']);
    expect(placesOf(at('sources'), canary)).toEqual(['its/own', 'own']);
  });

  it('finds nothing in similar text', () => {
    const similar = `${plain.slice(1)} ${base64(plain.slice(3))} ${url.toLowerCase()}`;
    expect(searchText(similar, 'a text', [canary])).toEqual([]);
  });
});
