import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { plainText } from '../../../src/diagnostics/prose-text.ts';
import { loadCluster } from '../../../src/engine/load-cluster.ts';

const hintsFor = (text: string): readonly string[] =>
  loadCluster(text, 'cluster.yaml').diagnostics.map(({ hint }) => plainText(hint));
const hintsOf = (name: string): readonly string[] => hintsFor(readFileSync(`test/cases/rules/${name}.yaml`, 'utf8'));

const links = (link: string): string =>
  `schema: 1\nname: rack\nnodes: { a: { host: a.lan }, b: { host: b.lan } }\nthunderbolt: { links: ["${link}"] }\n`;
const nodes = (...lines: readonly string[]): string => ['schema: 1', 'name: rack', 'nodes:', ...lines, ''].join('\n');

const space = ['Write a space after the colon: `host: b.lan`.'];
const arrow = 'Write `<->` between the two ends. Corrected: `b:4 <-> a:2`.';

describe('the hint for a common mistake', () => {
  it.each([
    ['schema-bad-form/model-split-at-its-comma', ['Mac16,9', 'MacBookPro18,2'].map(inQuotes)],
    ['schema-unknown-key/no-space-after-the-colon', space],
    ['schema-wrong-type/no-space-after-the-colon', space],
    ['yaml-syntax/no-space-after-the-colon', space],
    ['schema-wrong-type/nodes-as-a-list', ['Write nodes as a map of names, without dashes: `a: { host: a.lan }`.']],
    ['schema-bad-form/link-with-capitals', ['Names are lowercase. Corrected: `b:4 <-> studio-a:2`.']],
    ['schema-bad-form/link-with-another-arrow', [arrow, arrow, arrow]],
    ['schema-bad-form/link-from-receptacle-zero', ['Receptacles count from 1, as macOS prints them.']],
    ['yaml-syntax/key-between-two-columns', ['Begin it at column 5 like line 5, or at column 3 like line 4.']],
    ['yaml-syntax/key-too-far-right', ['Begin it at column 5 like line 5.']],
    ['yaml-syntax/node-too-far-right', ['Begin it at column 3 like line 4.']],
    ['yaml-syntax/item-too-far-left', ['Begin it at column 5 like line 6.']],
  ])('shows the correction for %s', (name, hints) => {
    expect(hintsOf(name)).toEqual(hints);
  });

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

function inQuotes(model: string): string {
  return `Put it in quotes: \`model: "${model}"\`.`;
}
