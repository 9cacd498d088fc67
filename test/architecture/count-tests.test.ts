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

/** Writes result files as vitest does and counts them. */
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

describe('the count of tests over several runs', () => {
  it('takes each test once, and a later run of a skipped one for what it is', () => {
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

  it('keeps a failure of any run', () => {
    expect(count([['one', 'failed']], [['one', 'passed']])).toMatchObject({ total: 1, passed: 0, failed: 1 });
  });

  it('tells tests of one name apart', () => {
    expect(
      count([
        ['one', 'passed'],
        ['one', 'passed'],
      ]),
    ).toMatchObject({ total: 2, passed: 2, failed: 0 });
  });

  it('counts a file that could not be loaded, and results that cannot be read, as failed', () => {
    expect(count([])).toMatchObject({ failed: 1 });
    expect(count('{')).toMatchObject({ failed: 1 });
  });
});

/** One result file with these tests of `/repo/test/a.test.ts`, and what is told of its failures. */
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

describe('the failures of several runs', () => {
  const failed = (title: string, message: string) => ({
    ancestorTitles: ['a rack'],
    title,
    fullName: `a rack ${title}`,
    status: 'failed',
    failureMessages: [message],
  });

  it('are a line for each test, once, with the first line of its message', () => {
    const passed = { ...failed('three', ''), status: 'passed', failureMessages: [] };
    expect(failures([failed('one', 'Error: too late\n    at b.ts'), failed('two', 'x'.repeat(200)), passed])).toEqual([
      'FAILED  test/a.test.ts > a rack > one: Error: too late',
      `FAILED  test/a.test.ts > a rack > two: ${'x'.repeat(159)}…`,
    ]);
  });

  it('are no more than a page of them, and how many more there are', () => {
    const many = Array.from({ length: 43 }, (_, index) => failed(`test ${index}`, 'no'));
    expect(failures(many).slice(39)).toEqual(['FAILED  test/a.test.ts > a rack > test 39: no', 'and 3 more']);
    expect(failures(many.slice(0, 40))).toHaveLength(40);
  });

  it('name a file that could not be loaded, and results that cannot be read', () => {
    expect(failures([], 40, 'Cannot find module x')).toEqual(['FAILED  test/a.test.ts: Cannot find module x']);
    const folder = mkdtempSync(join(tmpdir(), 'meshwright-failures-'));
    writeFileSync(join(folder, 'whole.json'), '{');
    expect(failureLines(folder, '/repo')).toEqual(['FAILED  results of whole.json: they cannot be read']);
    rmSync(folder, { recursive: true });
  });
});

describe('a second run of files with failures', () => {
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
  /** What is told of a run and of the second run of some of its files. */
  const told = (run: Readonly<Record<string, Tests>>, again: Readonly<Record<string, Tests>>) => {
    const folder = mkdtempSync(join(tmpdir(), 'meshwright-again-'));
    mkdirSync(join(folder, 'again'));
    write(join(folder, 'whole.json'), run);
    write(join(folder, 'again/whole.json'), again);
    const answer = { counts: countTests(folder), lines: failureLines(folder, '/repo') };
    rmSync(folder, { recursive: true });
    return answer;
  };

  it('takes back what passes, and names it', () => {
    expect(told({ a: { one: 'failed', two: 'passed' } }, { a: { one: 'passed', two: 'passed' } })).toEqual({
      counts: { total: 2, passed: 2, failed: 0, skipped: 0, unsteady: 1 },
      lines: ['UNSTEADY, passed when it ran again alone  a > one: Error: too late'],
    });
  });

  it('keeps what fails again, what did not run again, and what fails only then', () => {
    expect(told({ a: { one: 'failed' } }, { a: { one: 'failed' } }).lines).toEqual([
      'FAILED  a > one: Error: too late',
    ]);
    expect(told({ a: { one: 'failed' } }, {}).counts).toMatchObject({ failed: 1, unsteady: 0 });
    expect(told({ a: { one: 'failed' } }, { a: { one: 'passed', two: 'failed' } }).counts).toMatchObject({
      failed: 1,
      unsteady: 1,
    });
  });

  it('takes back a file that could not be loaded only when all of it passes', () => {
    expect(told({ a: {} }, { a: { one: 'passed' } }).counts).toMatchObject({ passed: 2, failed: 0, unsteady: 1 });
    expect(told({ a: {} }, { a: { one: 'passed', two: 'failed' } }).counts).toMatchObject({ failed: 2, unsteady: 0 });
    expect(told({ a: {} }, { a: {} }).counts).toMatchObject({ failed: 1 });
  });

  it('is for a few files with failures, and for none when there are many or nobody knows', () => {
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
