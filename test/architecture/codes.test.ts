import { describe, expect, it } from 'vitest';
import { plainText } from '../../src/diagnostics/prose-text.ts';
import { codes } from '../../src/engine/diagnose/rules.ts';
import { filesBelow, textOf } from './sources.ts';

const names = Object.keys(codes);
const documented = textOf('docs/errors.md');

/** Comments, and codes of diagnostics that a test makes itself. */
const notExpected = /^\s*(?:\/\*\*|\*|\/\/).*$|\b(?:diagnose|failure)\(\s*'[^']*'/gm;

/**
 * Everything with which tests compare codes, including golden files and the folders of rule cases. This folder only
 * counts codes, Markdown pages and comments only explain them, and a diagnostic that a test makes itself proves nothing.
 */
const tested = new Set(
  filesBelow('test')
    .filter((path) => !path.startsWith('test/architecture/') && !path.endsWith('.md'))
    .flatMap((path) => [path, textOf(path).replaceAll(notExpected, '')])
    .flatMap((text) => [...text.matchAll(/\b(?=([a-z]+\/[a-z0-9]+(?:-[a-z0-9]+)*))/g)].map(([, code]) => code)),
);

/** Sources without comments and without unions of codes in types, which create no diagnostics. */
const sources = filesBelow('src')
  .filter((path) => path.endsWith('.ts') && !path.startsWith('src/diagnostics/codes'))
  .map((path) => textOf(path).replaceAll(/^\s*(?:\/\*\*|\*|\/\/).*$|^.*\| '[a-z]+\/[a-z0-9-]+'.*$/gm, ''))
  .join('\n');

/**
 * True if a source creates a diagnostic with this code: in the first argument of `diagnose`, `failure` or `failed`,
 * from `codes` of its rule, after `code:` of a problem or a finding, in a constant named code, in a call of a function
 * named refuse or refused, or as a result. Comparisons and table keys do not count.
 */
const isMade = (code: string): boolean =>
  new RegExp(
    `(?:\\b(?:diagnose|failure|failed)\\([^(),]*|\\bcodes\\[[^\\]]*|\\bcode(?::| =) [^\\n;,]*|\\brefused?\\([^()]*|\\breturn [^;\\n]*)'${code}'`,
  ).test(sources);

describe('diagnostic codes', () => {
  it('consist of an area and a slug', () => {
    expect(names.filter((name) => !/^[a-z]+\/[a-z0-9]+(?:-[a-z0-9]+)*$/.test(name))).toEqual([]);
  });

  it('have a summary and a cause in full sentences, and a hint', () => {
    const bare = Object.entries(codes).filter(
      ([, { summary, cause, hint }]) => !/[.?]$/.test(summary) || !/[.?]$/.test(cause) || plainText(hint).length < 10,
    );
    expect(bare.map(([name]) => name)).toEqual([]);
  });

  it('are all explained in docs/errors.md', () => {
    expect(names.filter((name) => !documented.includes(`\`${name}\``))).toEqual([]);
  });

  it('are all used in product code', () => {
    expect(names.filter((name) => !isMade(name))).toEqual([]);
  });

  it('are each expected by at least one test', () => {
    expect(names.filter((name) => !tested.has(name))).toEqual([]);
  });
});
