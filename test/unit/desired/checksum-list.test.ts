import { describe, expect, it } from 'vitest';
import { readChecksums } from '../../../src/desired/checksum-list.ts';

const [a, b] = ['a'.repeat(64), 'b'.repeat(64)];

describe('a list of checksums', () => {
  it.each([
    ['of shasum', `${a}  config.json\n${b}  sub/w.safetensors\n`],
    ['of `find .`, with marks for binary files', `${a} *./config.json\n${b} *./sub/w.safetensors\n`],
    ['with tags', `SHA256 (config.json) = ${a}\nSHA256 (sub/w.safetensors) = ${b}`],
    [
      'from Windows, with comments and digits in upper case',
      `# kimi\r\n\r\n${a.toUpperCase()}  config.json\r\n${b}  sub/w.safetensors`,
    ],
    [
      'with files that no model has',
      `${b}  SHA256SUMS\n${b}  .DS_Store\n${b}  ./.git/x\n${a}  config.json\n${b}  sub/w.safetensors`,
    ],
  ])('%s names each file and its digest', (_, text) => {
    const files = [
      { path: 'config.json', sha256: a },
      { path: 'sub/w.safetensors', sha256: b },
    ];
    expect(readChecksums(text)).toEqual({ kind: 'listed', files });
  });

  it.each([
    ['a page', '<!doctype html>', 1],
    ['text before a digest', `x${a}  config.json`, 1],
    ['text before a tag', `xSHA256 (config.json) = ${a}`, 1],
    ['text after a tag', `SHA256 (config.json) = ${a}0`, 1],
    ['a different digest', `${a}  config.json\n${'c'.repeat(40)}  other`, 2],
    ['an escaped name', `${a}  config.json\n\n\\${b}  two\\nlines`, 3],
    ['one path with two digests', `${a}  config.json\n${b}  config.json`, 2],
  ])('is refused at the line with %s', (_, text, line) => {
    expect(readChecksums(text)).toEqual({ kind: 'garbled', line });
  });
});
