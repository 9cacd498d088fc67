import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { filesForCi, isNear, isSlow, nightFinding, nightParts, nightRows, testFiles } from '../chosen-files.ts';
import { casesAt } from '../sample.ts';
import { shortLimitsIn } from './short-limits.ts';
import { filesBelow, root, textOf } from './sources.ts';

interface Gate {
  readonly name: string;
  readonly minutes: number;
}

/** Imports one of the scripts, which have no types. */
const script = (name: string) => import(pathToFileURL(join(root, 'scripts', name)).href);
const { bars, totalMinutes, gateRuns } = await script('gate-list.mjs');
const { readResults } = await script('results.mjs');

const ci: readonly Gate[] = gateRuns('/results', true).ci;
const environment = Object.fromEntries(Object.entries(process.env).filter(([name]) => name !== 'CI'));

/** The output of a program in the project's folder, without CI=1. */
const printedBy = (words: readonly string[], env: Readonly<Record<string, string>> = {}): string =>
  execFileSync(process.execPath, words, { cwd: root, encoding: 'utf8', env: { ...environment, ...env } });

it('the workflows pin GitHub actions to commits, because tags can move', () => {
  const used = filesBelow('.github').flatMap((path) => textOf(path).match(/uses: .*/g) ?? []);
  expect(used.length).toBeGreaterThan(0);
  expect(used.filter((one) => !/^uses: [a-z-]+\/[a-z-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(one))).toEqual([]);
});

describe('the time limits of the CI gates', () => {
  it('add up to less than 85 minutes', () => {
    expect(totalMinutes).toBe(85);
    expect(ci.reduce((sum, { minutes }) => sum + minutes, 0)).toBeLessThan(totalMinutes);
  });

  it("match CONTRIBUTING.md, as does CI's CPU time", () => {
    const shown = textOf('CONTRIBUTING.md').replaceAll('\n', ' ');
    expect(shown).toContain(
      `may need ${bars.cpuMinutes} CPU minutes on two cores, and its limits add up to less than ${totalMinutes} minutes`,
    );
  });
});

describe('a gate', () => {
  const canGroup = process.platform === 'linux' && process.getuid?.() === 0;
  const run = (gate: object): string =>
    printedBy([
      '--input-type=module',
      '--eval',
      `import { runGate } from ${JSON.stringify(pathToFileURL(join(root, 'scripts/run-gate.mjs')).href)};
       const { isGreen, cpuSeconds } = await runGate(${JSON.stringify(gate)});
       console.log(isGreen, cpuSeconds > 0.2);`,
    ]);

  it.runIf(canGroup)('stops processes left running by its command, and counts their CPU time', () => {
    const left = 'i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done; echo >"$0"; exec sleep 3600';
    const command = `p=$(mktemp -u) && mkfifo "$p"; setsid bash -c '${left}' "$p" & read -r _ <"$p"; rm "$p"`;
    expect(run({ name: 'leaves', command, minutes: 1 })).toMatch(/^left behind, ended: .*sleep 3600\ntrue true\n$/);
  });

  it("is killed when it times out, along with its shell's processes", () => {
    expect(run({ name: 'hangs', command: 'sleep 3600 | sleep 3600', minutes: 0.01 })).toMatch(
      /^gate hangs: not done after 0.01 minutes\n(?:.*\n)*false /,
    );
  });

  it('is asked to stop, but never killed, if it times out during an installation', () => {
    const command = `bash -c 'trap "echo asked" TERM; sleep 3; echo complete'`;
    expect(run({ name: 'installs', command, minutes: 0.01, isInstallation: true })).toMatch(
      /^gate installs: not done .*\nasked\ncomplete\ntrue /,
    );
  });

  it('fails if its command fails', () => {
    expect(run({ name: 'fails', command: 'exit 3', minutes: 1 })).toMatch(/^false /);
  });
});

describe('the result counts', () => {
  it('count every failed test, unloadable file and unreadable result as a failure', () => {
    const folder = mkdtempSync(join(tmpdir(), 'meshwright-results-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const test = (title: string, status: string) => ({
      ancestorTitles: ['a rack'],
      title,
      status,
      failureMessages: status === 'failed' ? ['Error: no\n  at'] : [],
    });
    const testResults = [
      {
        name: join(root, 'a.test.ts'),
        status: 'failed',
        assertionResults: [test('is up', 'passed'), test('x', 'failed')],
      },
      { name: join(root, 'b.test.ts'), status: 'failed', message: 'no such module', assertionResults: [] },
      { name: join(root, 'c.test.ts'), status: 'passed', assertionResults: [test('y', 'pending')] },
    ];
    writeFileSync(join(folder, 'one.json'), JSON.stringify({ testResults }));
    writeFileSync(join(folder, 'two.json'), '{');
    expect(readResults(folder, root)).toEqual({
      passed: 1,
      skipped: 1,
      failures: [
        'a.test.ts > a rack > x: Error: no',
        'b.test.ts: no such module',
        'results of two.json: the file cannot be read',
      ],
    });
  });
});

describe('the slow tests of a commit', () => {
  const files = testFiles().filter(isSlow);
  const rows = Object.keys(nightParts).map((part) => ({ part, hasPassed: true, commit: part, line: '' }));
  const chosenAt = (position: number, changed: readonly string[] = []) =>
    filesForCi(files, { position, rows, changedSince: () => changed });

  it('are split into four parts, one of which runs at each commit', () => {
    const parts = [0, 1, 2, 3].map((position) => chosenAt(position));
    expect([...new Set(parts.flat())].toSorted()).toEqual(files);
    const always = files.filter((path) => parts.every((part) => part.includes(path)));
    expect(parts.flat()).toHaveLength(files.length + 3 * always.length);
    expect(chosenAt(4)).toEqual(parts[0]);
    expect(Math.max(...parts.map(({ length }) => length))).toBeLessThan(files.length / 3);
  });

  it('include a test if the test or its nearest source has changed since the last nightly run', () => {
    const other = chosenAt(1).filter((path) => !chosenAt(0).includes(path));
    expect(chosenAt(0, other.slice(0, 2))).toEqual(expect.arrayContaining(other.slice(0, 2)));
    expect(chosenAt(0, ['src/none.ts'])).toEqual(chosenAt(0));
    const added = [0, 4, 8, 12].map((position) => chosenAt(position, other).filter((path) => other.includes(path)));
    expect(added.map(({ length }) => length <= 10)).toEqual([true, true, true, true]);
    expect(new Set(added.flat()).size).toBeGreaterThan(10);
    expect(isNear('test/scenarios/keeper-refused.slow.test.ts', '', 'src/rack/keeper/rule.ts')).toBe(true);
    expect(isNear('test/cli/drain.slow.test.ts', '', 'src/rack/drain/drain-ranks.sh')).toBe(true);
    expect(isNear('test/cli/hold.slow.test.ts', '', 'src/rack/keeper/rule.ts')).toBe(false);
    expect(isNear('test/native/clang-tidy.slow.test.ts', '', 'native/core/fnv.cc')).toBe(true);
    const text = "import type { A } from '../../src/b/c.ts';\nimport { d } from '../../src/b/d.ts';\n";
    expect(isNear('test/cli/x.slow.test.ts', text, 'src/b/c.ts')).toBe(false);
    expect(isNear('test/cli/x.slow.test.ts', text, 'src/b/d.ts')).toBe(true);
  });
});

describe('the last nightly runs', () => {
  const rows = nightRows(
    '| kills | passed | 2026-11-27, commit abc1234, seed 1 | 50 min | 9 tests |\n| soak | **failed** | 2026-11-27, commit abc1234, seed 1 | 9 min | failed |\n',
  );
  const findings = (age?: number) =>
    ['kills', 'soak', 'scripts'].map((part) => nightFinding(part, rows, () => age)?.isFailure);

  it('pass if they are fewer than 400 commits old, warn from 400 on and fail from 1,000 on', () => {
    expect([0, 399, 400, 999, 1_000].map((age) => findings(age)[0])).toEqual([
      undefined,
      undefined,
      false,
      false,
      true,
    ]);
  });

  it('count as failures if they failed or are missing, but only warn if the clone lacks their commit', () => {
    expect(findings()).toEqual([false, true, true]);
  });
});

describe('a sample', () => {
  const list = Array.from({ length: 100 }, (_, at) => at);

  it.each([
    ['few', 47, [2, 3]],
    ['share', 7, [14, 15]],
    ['whole', 1, [100]],
  ] as const)('covers every case after every position has had its turn, at depth %s', (depth, slices, sizes) => {
    const tried = Array.from({ length: slices }, (_, at) =>
      casesAt(list, { few: 2, oneIn: 8 }, { depth, position: 1_000 + at }),
    );
    expect(tried.flat().toSorted((a, b) => a - b)).toEqual(list);
    expect([...new Set(tried.map(({ length }) => length))].toSorted((a, b) => a - b)).toEqual(sizes);
  });

  it.each([2, 3, 4])(
    'covers every case, even if it takes one case in %i and its file runs only at every fourth commit',
    (oneIn) => {
      const tried = [0, 1, 2].flatMap((round) =>
        casesAt(list, { few: 1, oneIn }, { depth: 'share', position: 1_002 + 4 * round }),
      );
      expect(new Set(tried).size).toBe(100);
    },
  );
});

describe('the workflows', () => {
  const workflow = (name: string) => parseYaml(textOf(`.github/workflows/${name}.yml`));
  const stepsOf = (job: { steps: readonly { run?: string }[] }): readonly string[] =>
    job.steps.flatMap(({ run }) => run ?? []);

  it('run every gate on every change, with a long enough timeout', () => {
    const { gates } = workflow('check').jobs;
    expect(stepsOf(gates)).toEqual(['sudo -E env "PATH=$PATH" .ci/run']);
    expect(gates['timeout-minutes']).toBeGreaterThanOrEqual(totalMinutes);
  });

  it('fetch the full Git history, because the samples depend on it', () => {
    const steps = [workflow('check'), workflow('nightly')].flatMap(({ jobs }) =>
      Object.values<{ steps: readonly { uses?: string; with?: object }[] }>(jobs).flatMap((job) => job.steps),
    );
    const checkouts = steps.filter(({ uses }) => uses?.startsWith('actions/checkout@'));
    expect(checkouts.map((step) => step.with)).toEqual(checkouts.map(() => ({ 'fetch-depth': 0 })));
  });

  it('run all node script tests with the shell that macOS uses', () => {
    expect(stepsOf(workflow('check').jobs.tests)).toContain('npm run test:shells');
  });

  it("run 'npm run nightly' every night", () => {
    const { on, jobs } = workflow('nightly');
    expect(on.schedule).toEqual([{ cron: expect.any(String) }]);
    expect(stepsOf(jobs.nightly).at(-1)).toMatch(/^npm run nightly\b/);
  });
});

describe('a test', () => {
  it('has no timeout below the global timeout, and no wait much shorter than the global timeout', () => {
    const sources = filesBelow('test').filter((path) => path.endsWith('.ts'));
    expect(sources.flatMap((path) => shortLimitsIn(path, textOf(path)))).toEqual([]);
  });

  it.each([
    "it('a', act, 120_000);",
    "describe('a', { timeout: 60_000 }, act);",
    'await expect.poll(read, { timeout: 10_000 }).toBe(1);',
    'await vi.waitFor(check, { timeout: 25_000, interval: 20 });',
    'await vi.waitFor(check, 25_000);',
    'await vi.waitUntil(check);',
    'await vi.waitUntil(check, { interval: 20 });',
    "spawnSync('perl', [], { timeout: 60_000 });",
    'await fetch(url, { signal: AbortSignal.timeout(20_000) });',
    'const patienceMs = 60_000; const end = Date.now() + patienceMs;',
    'for (let tries = 0; tries < 200 && !isThere(); tries += 1) await pause(20);',
    'for (let tries = 0; tries < 9; tries += 1) await new Promise((next) => setTimeout(next, 50));',
  ])('is reported if it gives up too early: %s', (text) => {
    expect(shortLimitsIn('example.test.ts', text)).toHaveLength(1);
  });

  it.each([
    "it('a', act, 300_000);",
    'await expect.poll(read).toBe(1);',
    'await vi.waitFor(check, { timeout: 120_000 });',
    "spawnSync('perl', [], { timeout: 120_000 });",
    'const yesterday = new Date(Date.now() - 60_000);',
    'for (let tries = 0; tries < 9; tries += 1) await act();',
  ])('may have a longer time limit, or none: %s', (text) => {
    expect(shortLimitsIn('example.test.ts', text)).toEqual([]);
  });
});

describe('a golden file', () => {
  it('is updated only on explicit request', () => {
    const modeAfter = (options: string): string =>
      printedBy([
        '--input-type=module',
        '--eval',
        `import { resolveConfig } from 'vitest/node';
         const { vitestConfig } = await resolveConfig(${options});
         process.stdout.write(vitestConfig.snapshotOptions.updateSnapshot);`,
      ]);
    expect(modeAfter('{}')).toBe('none');
    expect(modeAfter('{ update: true }')).toBe('all');
  });
});
