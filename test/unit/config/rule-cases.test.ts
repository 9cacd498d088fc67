import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fileCodes } from '../../../src/diagnostics/codes/codes-file.ts';
import { settleCodes } from '../../../src/diagnostics/codes/codes-placement.ts';
import type { Diagnostic } from '../../../src/diagnostics/diagnostic.ts';
import { plainText } from '../../../src/diagnostics/prose-text.ts';
import { loadCluster, parseLock } from '../../../src/engine/load-cluster.ts';
import { subjectText } from '../../../src/model/subject.ts';
import { type MarkedPlace, markedPlaces } from './marked-places.ts';
import { writtenCases } from './written-cases.ts';

const root = 'test/cases/rules';
const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.(?:yaml|lock)$/.test(name))
  .map((name) => join(root, name))
  .sort();

const judge = (file: string): readonly Diagnostic[] =>
  (file.endsWith('.lock') ? parseLock : loadCluster)(readFileSync(file), basename(file)).diagnostics;

/** A diagnostic in the form of a mark; the end only where the mark has one. */
const asMark = (one: Diagnostic, mark: MarkedPlace | undefined): MarkedPlace => ({
  code: one.code,
  line: one.where?.line ?? 0,
  column: one.where?.column ?? 0,
  ...(mark?.endColumn === undefined || one.where === undefined ? {} : { endColumn: one.where.endColumn }),
});

describe('a wrong file', () => {
  it.each(files)(
    '%s is told exactly what is marked in it, and nothing else (cases 1, 2, 3, 5, 8, 9, 11, 12)',
    (file) => {
      const marks = markedPlaces(readFileSync(file, 'utf8'));
      const found = judge(file);
      expect(found.map((one, index) => asMark(one, marks[index]))).toEqual(marks);
      expect(marks.map((mark) => mark.code)).toContain(basename(dirname(file)).replace('-', '/'));
    },
  );

  it.each(writtenCases)('$name is told (case 10)', ({ input, code, line, column }) => {
    const [first] = loadCluster(input, 'cluster.yaml').diagnostics.filter((one) => one.code === code);
    expect(first?.where).toMatchObject({ file: 'cluster.yaml', line, column });
  });
});

describe('what is said of a wrong file', () => {
  const lines = (about: string, found: readonly Diagnostic[]): readonly string[] => [
    about,
    ...found.map(({ code, where, subject, detail, hint }) =>
      [
        `  ${where?.line ?? '-'}:${where?.column ?? '-'} ${code}`,
        subjectText(subject),
        plainText(detail),
        plainText(hint),
      ].join(' | '),
    ),
  ];

  it('is all on one page, to be read when it changes', async () => {
    const pages = [
      ...files.flatMap((file) => lines(file.slice(root.length + 1), judge(file))),
      ...writtenCases.flatMap(({ name, input }) => lines(name, loadCluster(input, 'cluster.yaml').diagnostics)),
    ];
    await expect(`${pages.join('\n')}\n`).toMatchFileSnapshot('golden/wrong-files.txt');
  });
});

describe('every code about a file', () => {
  it('is provoked by a case', () => {
    const provoked = new Set([
      ...files.map((file) => basename(dirname(file)).replace('-', '/')),
      ...writtenCases.map((one) => one.code),
    ]);
    const provokedElsewhere = [
      ...Object.keys(fileCodes).filter((code) => code.startsWith('select/')),
      ...Object.keys(settleCodes),
    ];
    expect(
      Object.keys(fileCodes)
        .filter((code) => !provoked.has(code))
        .sort(),
    ).toEqual(provokedElsewhere.sort());
  });
});
