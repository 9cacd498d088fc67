import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { root } from './sources.ts';

type Counts = Readonly<Record<'total' | 'passed' | 'failed' | 'skipped' | 'unsteady', number>>;

interface Results {
  readonly countTests: (folder: string) => Counts;
  readonly failureLines: (folder: string, root: string, most?: number) => readonly string[];
  readonly filesToRunAgain: (path: string, most?: number) => readonly string[];
}
const { countTests, failureLines, filesToRunAgain }: Results = await import(
  pathToFileURL(join(root, 'scripts/count-tests.mjs')).href
);

/** Writes result files in vitest's format and counts the tests. */
function count(...runs: readonly (readonly (readonly [fullName: string, status: string])[] | string)[]): Counts {
  const folder = mkdtempSync(join(tmpdir(), 'meshwright-counts-'));
  runs.forEach((run, index) => {
    const text =
      typeof run === 'string'
        ? run
        : JSON.stringify({
            testResults: [
              {
                name: 'a.test.ts',
                status: run.length === 0 || run.some(([, status]) => status === 'failed') ? 'failed' : 'passed',
                assertionResults: run.map(([fullName, status]) => ({ fullName, status })),
              },
            ],
          });
    writeFileSync(join(folder, `${index}.json`), text);
  });
  const counts = countTests(folder);
  rmSync(folder, { recursive: true });
  return counts;
}

describe('countTests over several runs', () => {
  it('counts each test once, using a later run if the first skipped it', () => {
    const everyday = [
      ['one', 'passed'],
      ['two', 'skipped'],
      ['three', 'pending'],
    ] as const;
    const whole = [
      ['one', 'passed'],
      ['two', 'passed'],
      ['three', 'skipped'],
    ] as const;
    expect(count(everyday, whole)).toEqual({ total: 3, passed: 2, failed: 0, skipped: 1, unsteady: 0 });
  });

  it('keeps a failure from any run', () => {
    expect(count([['one', 'failed']], [['one', 'passed']])).toMatchObject({ total: 1, passed: 0, failed: 1 });
  });

  it('counts tests with the same name separately', () => {
    expect(
      count([
        ['one', 'passed'],
        ['one', 'passed'],
      ]),
    ).toMatchObject({ total: 2, passed: 2, failed: 0 });
  });

  it('counts unloadable files and unreadable results as failed', () => {
    expect(count([])).toMatchObject({ failed: 1 });
    expect(count('{')).toMatchObject({ failed: 1 });
  });
});

/** Writes result files with these tests of `/repo/test/a.test.ts`; returns the failure lines. */
function failures(tests: readonly object[], most?: number, message?: string): readonly string[] {
  const folder = mkdtempSync(join(tmpdir(), 'meshwright-failures-'));
  const file = { name: '/repo/test/a.test.ts', status: 'failed', message, assertionResults: tests };
  for (const name of ['everyday.json', 'whole.json']) {
    writeFileSync(join(folder, name), JSON.stringify({ testResults: [file] }));
  }
  const lines = failureLines(folder, '/repo', most);
  rmSync(folder, { recursive: true });
  return lines;
}

describe('failureLines', () => {
  const failed = (title: string, message: string) => ({
    ancestorTitles: ['a rack'],
    title,
    fullName: `a rack ${title}`,
    status: 'failed',
    failureMessages: [message],
  });

  it('returns one line per failed test, with the first line of its message', () => {
    const passed = { ...failed('three', ''), status: 'passed', failureMessages: [] };
    expect(failures([failed('one', 'Error: too late\n    at b.ts'), failed('two', 'x'.repeat(200)), passed])).toEqual([
      'FAILED  test/a.test.ts > a rack > one: Error: too late',
      `FAILED  test/a.test.ts > a rack > two: ${'x'.repeat(159)}…`,
    ]);
  });

  it('returns at most one page, then the number of omitted lines', () => {
    const many = Array.from({ length: 43 }, (_, index) => failed(`test ${index}`, 'no'));
    expect(failures(many).slice(39)).toEqual(['FAILED  test/a.test.ts > a rack > test 39: no', 'and 3 more']);
    expect(failures(many.slice(0, 40))).toHaveLength(40);
  });

  it('names unloadable files and unreadable results', () => {
    expect(failures([], 40, 'Cannot find module x')).toEqual(['FAILED  test/a.test.ts: Cannot find module x']);
    const folder = mkdtempSync(join(tmpdir(), 'meshwright-failures-'));
    writeFileSync(join(folder, 'whole.json'), '{');
    expect(failureLines(folder, '/repo')).toEqual(['FAILED  results of whole.json: the file cannot be read']);
    rmSync(folder, { recursive: true });
  });
});

describe('a second run of failed files', () => {
  type Tests = Readonly<Record<string, 'passed' | 'failed'>>;
  const inFile = (name: string, tests: Tests) => ({
    name: `/repo/${name}`,
    status: Object.values(tests).includes('failed') || Object.keys(tests).length === 0 ? 'failed' : 'passed',
    message: '',
    assertionResults: Object.entries(tests).map(([title, status]) => {
      const failureMessages = status === 'failed' ? ['Error: too late'] : [];
      return { ancestorTitles: [], title, fullName: title, status, failureMessages };
    }),
  });
  const write = (path: string, files: Readonly<Record<string, Tests>>): void => {
    const testResults = Object.entries(files).map(([name, tests]) => inFile(name, tests));
    writeFileSync(path, JSON.stringify({ testResults }));
  };
  /** The counts and lines of a run and the second run of some of its files. */
  const reported = (run: Readonly<Record<string, Tests>>, again: Readonly<Record<string, Tests>>) => {
    const folder = mkdtempSync(join(tmpdir(), 'meshwright-again-'));
    mkdirSync(join(folder, 'again'));
    write(join(folder, 'whole.json'), run);
    write(join(folder, 'again/whole.json'), again);
    const answer = { counts: countTests(folder), lines: failureLines(folder, '/repo') };
    rmSync(folder, { recursive: true });
    return answer;
  };

  it('reports tests that now pass as unsteady', () => {
    expect(reported({ a: { one: 'failed', two: 'passed' } }, { a: { one: 'passed', two: 'passed' } })).toEqual({
      counts: { total: 2, passed: 2, failed: 0, skipped: 0, unsteady: 1 },
      lines: ['UNSTEADY, passed when it ran again alone  a > one: Error: too late'],
    });
  });

  it('keeps failures that recur, did not run again, or are new', () => {
    expect(reported({ a: { one: 'failed' } }, { a: { one: 'failed' } }).lines).toEqual([
      'FAILED  a > one: Error: too late',
    ]);
    expect(reported({ a: { one: 'failed' } }, {}).counts).toMatchObject({ failed: 1, unsteady: 0 });
    expect(reported({ a: { one: 'failed' } }, { a: { one: 'passed', two: 'failed' } }).counts).toMatchObject({
      failed: 1,
      unsteady: 1,
    });
  });

  it('replaces an unloadable file only if all its tests pass', () => {
    expect(reported({ a: {} }, { a: { one: 'passed' } }).counts).toMatchObject({ passed: 2, failed: 0, unsteady: 1 });
    expect(reported({ a: {} }, { a: { one: 'passed', two: 'failed' } }).counts).toMatchObject({
      failed: 2,
      unsteady: 0,
    });
    expect(reported({ a: {} }, { a: {} }).counts).toMatchObject({ failed: 1 });
  });

  it('is limited to a few failed files, and skipped if results are unreadable', () => {
    const folder = mkdtempSync(join(tmpdir(), 'meshwright-again-'));
    const path = join(folder, 'whole.json');
    write(path, { a: { one: 'failed', two: 'failed' }, b: { one: 'passed' }, c: {} });
    expect(filesToRunAgain(path)).toEqual(['/repo/a', '/repo/c']);
    expect(filesToRunAgain(path, 1)).toEqual([]);
    writeFileSync(path, '{');
    expect(filesToRunAgain(path)).toEqual([]);
    expect(filesToRunAgain(join(folder, 'none.json'))).toEqual([]);
    rmSync(folder, { recursive: true });
  });
});
