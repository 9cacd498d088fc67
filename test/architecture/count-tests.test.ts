import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { root } from './sources.ts';

type Counts = Readonly<Record<'total' | 'passed' | 'failed' | 'skipped', number>>;
const { countTests }: { countTests: (folder: string) => Counts } = await import(
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
    expect(count(everyday, whole)).toEqual({ total: 3, passed: 2, failed: 0, skipped: 1 });
  });

  it('keeps a failure of any run', () => {
    expect(count([['one', 'failed']], [['one', 'passed']])).toEqual({ total: 1, passed: 0, failed: 1, skipped: 0 });
  });

  it('tells tests of one name apart', () => {
    expect(
      count([
        ['one', 'passed'],
        ['one', 'passed'],
      ]),
    ).toEqual({ total: 2, passed: 2, failed: 0, skipped: 0 });
  });

  it('counts a file that could not be loaded, and results that cannot be read, as failed', () => {
    expect(count([])).toMatchObject({ failed: 1 });
    expect(count('{')).toMatchObject({ failed: 1 });
  });
});
