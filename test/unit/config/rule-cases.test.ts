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

const found = new Map<string, readonly Diagnostic[]>();
/** The result of `read`, computed once for each name. */
function once(name: string, read: () => readonly Diagnostic[]): readonly Diagnostic[] {
  const diagnostics = found.get(name) ?? read();
  found.set(name, diagnostics);
  return diagnostics;
}

const diagnosticsOf = (file: string): readonly Diagnostic[] =>
  once(file, () => (file.endsWith('.lock') ? parseLock : loadCluster)(readFileSync(file), basename(file)).diagnostics);

const writtenDiagnostics = ({ name, input }: (typeof writtenCases)[number]): readonly Diagnostic[] =>
  once(name, () => loadCluster(input, 'cluster.yaml').diagnostics);

/** A diagnostic in the form of a mark, with an end only if the mark has an end. */
const asMark = (one: Diagnostic, mark: MarkedPlace | undefined): MarkedPlace => ({
  code: one.code,
  line: one.where?.line ?? 0,
  column: one.where?.column ?? 0,
  ...(mark?.endColumn === undefined || one.where === undefined ? {} : { endColumn: one.where.endColumn }),
});

describe('an invalid file', () => {
  it.each(files)('has exactly the diagnostics marked in it: %s', (file) => {
    const marks = markedPlaces(readFileSync(file, 'utf8'));
    const found = diagnosticsOf(file);
    expect(found.map((one, index) => asMark(one, marks[index]))).toEqual(marks);
    expect(marks.map((mark) => mark.code)).toContain(basename(dirname(file)).replace('-', '/'));
  });

  it.each(writtenCases)('is reported at the right place: $name', (written) => {
    const { code, line, column } = written;
    const [first] = writtenDiagnostics(written).filter((one) => one.code === code);
    expect(first?.where).toMatchObject({ file: 'cluster.yaml', line, column });
  });
});

describe('the messages about invalid files', () => {
  const lines = (about: string, found: readonly Diagnostic[]): readonly string[] => [
    about,
    ...found.map(({ code, severity, where, subject, label = '', detail, hint, related }) =>
      [
        `  ${where?.line ?? '-'}:${where?.column ?? '-'} ${severity} ${code}`,
        subjectText(subject),
        label,
        plainText(detail),
        plainText(hint),
        ...related.map((one) => `${one.where?.line}:${one.where?.column} ${plainText(one.detail)}`),
      ].join(' | '),
    ),
  ];

  it('match golden/wrong-files.txt', async () => {
    const pages = [
      ...files.flatMap((file) => lines(file.slice(root.length + 1), diagnosticsOf(file))),
      ...writtenCases.flatMap((written) => lines(written.name, writtenDiagnostics(written))),
    ];
    await expect(`${pages.join('\n')}\n`).toMatchFileSnapshot('golden/wrong-files.txt');
  });
});

describe('every diagnostic code about a file', () => {
  it('occurs in at least one case', () => {
    const causedHere = new Set([
      ...files.map((file) => basename(dirname(file)).replace('-', '/')),
      ...writtenCases.map((one) => one.code),
    ]);
    const causedElsewhere = [
      ...Object.keys(fileCodes).filter((code) => code.startsWith('select/')),
      ...Object.keys(settleCodes),
      'version/known-pair',
    ];
    expect(
      Object.keys(fileCodes)
        .filter((code) => !causedHere.has(code))
        .sort(),
    ).toEqual(causedElsewhere.sort());
  });
});
