import { describe, expect, it } from 'vitest';
import { plainText } from '../../../src/diagnostics/prose-text.ts';
import { loadCluster } from '../../../src/engine/load-cluster.ts';

const hintsFor = (text: string): readonly string[] =>
  loadCluster(text, 'cluster.yaml').diagnostics.map(({ hint }) => plainText(hint));

const links = (link: string): string =>
  `schema: 1\nname: rack\nnodes: { a: { host: a.lan }, b: { host: b.lan } }\nthunderbolt: { links: ["${link}"] }\n`;
const nodes = (...lines: readonly string[]): string => ['schema: 1', 'name: rack', 'nodes:', ...lines, ''].join('\n');

const space = ['Write a space after the colon: `host: b.lan`.'];

describe('the hint for a common mistake', () => {
  it('names a missing space before any following text', () => {
    expect(hintsFor(nodes('  b:', '    host:b.lan', '    user: mesh'))).toEqual(space);
    expect(hintsFor(nodes('  b:', '    host:b.lan  # office', '', '    user: mesh'))).toEqual(space);
    expect(hintsFor(nodes('  b:', '    user: mesh', '    host:b.lan'))).toEqual(space);
  });

  it('names every mistake in a link', () => {
    expect(hintsFor(links('A:0 -> b:1'))).toEqual([
      'Write `<->` between the two ends. Names are lowercase. Receptacles count from 1, as macOS prints them.',
    ]);
    expect(hintsFor(links('b <-> a'))).toEqual([expect.stringContaining('node:receptacle <-> node:receptacle')]);
  });

  it('shows an example if a list of nodes has no valid name', () => {
    const example = [expect.stringContaining('`studio-1: { host: studio-1.lan }`')];
    expect(hintsFor(nodes('  - host: a.lan'))).toEqual(example);
    expect(hintsFor(nodes('  - name: A B'))).toEqual(example);
    expect(hintsFor(nodes('  - a'))).toEqual([expect.stringContaining('`a: { host: a.lan }`')]);
  });

  it('covers only a model identifier written in two halves', () => {
    const codes = (hardware: string) =>
      loadCluster(nodes(`  a: { host: a.lan, hardware: { ${hardware} } }`), 'f').diagnostics.map(({ code }) => code);
    expect(codes('model: Mac16,9')).toEqual(['schema/bad-form']);
    expect(codes('model: Mac16, 9')).toEqual(['schema/bad-form', 'schema/unknown-key']);
    expect(codes('model: Mac16,9: 3')).toEqual(['schema/bad-form', 'schema/unknown-key']);
    expect(codes('model: "Mac16",9')).toEqual(['schema/bad-form', 'schema/unknown-key']);
  });
});

describe('a line that starts in the wrong column', () => {
  const reported = (...lines: readonly string[]) =>
    loadCluster(nodes(...lines), 'f').diagnostics.map(({ where, detail }) => [where?.line, where?.column, detail]);

  it('is reported with its column and the valid columns', () => {
    expect(reported('  a:', '    host: a.lan', '', '  # the account', '   user: mesh')).toEqual([
      [8, 4, 'This line begins at column 4, but line 5 begins at column 5 and line 4 begins at column 3.'],
    ]);
  });

  it('is not compared with lines inside brackets', () => {
    expect(reported('  a: { host: a.lan,', '       user: mesh }', '   b: { host: b.lan }')).toEqual([
      [6, 4, 'This line begins at column 4, but line 4 begins at column 3.'],
    ]);
  });

  it('is not reported if one line has two keys', () => {
    expect(reported('  a: host: a.lan')).toEqual([[4, 6, 'Nested mappings are not allowed in compact mappings.']]);
  });
});
