import { describe, expect, it } from 'vitest';
import { plainText } from '../../src/diagnostics/prose-text.ts';
import { codes } from '../../src/engine/diagnose/rules.ts';
import { filesBelow, textOf } from './sources.ts';

const names = Object.keys(codes);
const documented = textOf('docs/errors.md');

/**
 * Everything that could provoke a code and say so. This folder only counts them, and a page of documents explains them;
 * a golden text and the folder of a rule's case are what a test compares with.
 */
const tested = filesBelow('test')
  .filter((path) => !path.startsWith('test/architecture/') && !path.endsWith('.md'))
  .map((path) => `${path}\n${textOf(path)}`)
  .join('\n');

/** Sources without their comments and without unions of codes in types, which make nothing. */
const sources = filesBelow('src')
  .filter((path) => path.endsWith('.ts') && !path.startsWith('src/diagnostics/codes'))
  .map((path) => textOf(path).replaceAll(/^\s*(?:\/\*\*|\*|\/\/).*$|^.*\| '[a-z]+\/[a-z0-9-]+'.*$/gm, ''))
  .join('\n');

/**
 * Whether some source makes a diagnostic of this code: it is in the first argument of `diagnose`, taken from `codes` of its
 * rule, behind `code:` of a problem or a finding, in a constant called code, or in a call of a function called refuse or refused. To be
 * compared with, or to be the key of a table, makes nothing.
 */
const isMade = (code: string): boolean =>
  new RegExp(
    `(?:\\bdiagnose\\([^(),]*|\\bcodes\\[[^\\]]*|\\bcode(?::| =) [^\\n;,]*|\\brefused?\\([^()]*)'${code}'`,
  ).test(sources);

describe('diagnostic codes', () => {
  it('are an area and a slug', () => {
    expect(names.filter((name) => !/^[a-z]+\/[a-z0-9]+(?:-[a-z0-9]+)*$/.test(name))).toEqual([]);
  });

  it('say in full sentences what is wrong, why, and what to do', () => {
    const bare = Object.entries(codes).filter(
      ([, { summary, cause, hint }]) => !/[.?]$/.test(summary) || !/[.?]$/.test(cause) || plainText(hint).length < 10,
    );
    expect(bare.map(([name]) => name)).toEqual([]);
  });

  it('are all explained in docs/errors.md', () => {
    expect(names.filter((name) => !documented.includes(`\`${name}\``))).toEqual([]);
  });

  it('are all used by the product', () => {
    expect(names.filter((name) => !isMade(name))).toEqual([]);
  });

  it('are all provoked by a test', () => {
    expect(names.filter((name) => !new RegExp(`${name}(?![a-z0-9-])`).test(tested))).toEqual([]);
  });
});
