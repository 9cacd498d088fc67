import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { root } from './sources.ts';

interface NumberedTitle {
  readonly path: string;
  readonly title: string;
  readonly numbers: readonly string[];
}

// Loaded by its path, because a JavaScript module has no types.
const {
  casesPage,
  numberedTitles,
}: {
  readonly numberedTitles: (path: string, text: string) => readonly NumberedTitle[];
  readonly casesPage: (groups: readonly object[], tests: readonly NumberedTitle[]) => string;
} = await import(pathToFileURL(join(root, 'scripts/case-table.mjs')).href);

const titlesIn = (...lines: readonly string[]) =>
  numberedTitles('test/a.test.ts', lines.join('\n')).map(({ title, numbers }) => [title, numbers]);

const page = (title: string, reason?: string): string =>
  casesPage(
    [{ title: 'Input', cases: [{ number: '1', words: 'A host.', ...(reason === undefined ? {} : { reason }) }] }],
    numberedTitles('test/a.test.ts', `it('${title}', body);`),
  );

describe('a test title with case numbers', () => {
  it('is found in every kind of test call', () => {
    const found = titlesIn(
      "describe.runIf(isThere)('a host (case 1)', () => {",
      "  it.each([['x (case 9)']])('is %s (cases 2, 47b)', () => undefined);",
      '  it.skipIf(isMac)(`is ${name} (case 3)`, () => undefined);',
      "  it('has no number', () => expect('(case 8)').toBe(x));",
      '});',
    );
    expect(found).toEqual([
      ['a host', ['1']],
      ['a host › is %s', ['2', '47b']],
      ['a host › is ${name}', ['3']],
    ]);
  });

  it('must end with the numbers in one fixed format', () => {
    for (const title of ['(case 1) first', 'last (case 1, 2b, c)', 'twice (case 1) (case 2)']) {
      expect(() => titlesIn(`it('${title}', body);`), title).toThrow('is to end with (case 1) or (cases 1, 2)');
    }
  });
});

describe('casesPage', () => {
  it('lists each case with its tests, its reason, or both', () => {
    expect(page('starts no program (case 1)')).toContain('| 1 | A host. | [a](../test/a.test.ts): starts no program |');
    expect(page('else', 'None.')).toContain('| 1 | A host. | None. |');
    expect(page('a|b (case 1)', 'Partly.')).toContain('| [a](../test/a.test.ts): a\\|b<br>Partly. |');
  });

  it('rejects unknown case numbers, and cases with neither a test nor a reason', () => {
    expect(() => page('else')).toThrow('case 1 has neither a test nor a reason');
    expect(() => page('other (cases 1, 2)')).toThrow('"other" names case 2, which is not in scripts/cases.json');
  });
});
