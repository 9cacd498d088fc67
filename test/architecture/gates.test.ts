import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { filesBelow, root, textOf } from './sources.ts';
import { nodesOf, parse } from './syntax.ts';

interface Gate {
  readonly name: string;
  readonly command: string;
  readonly minutes: number;
}

interface GateList {
  readonly totalMinutes: number;
  readonly gateRuns: (results: string, hasNamespaces: boolean) => Readonly<Record<'check' | 'verify' | 'ci', Gate[]>>;
  readonly secondRunMinutes: (gates: readonly Gate[], gate: Gate, elapsedMinutes: number) => number;
}
const { totalMinutes, gateRuns, secondRunMinutes }: GateList = await import(
  pathToFileURL(join(root, 'scripts/gate-list.mjs')).href
);

const { ci } = gateRuns('/results', true);
const sumOf = (gates: readonly Gate[]): number => gates.reduce((sum, { minutes }) => sum + minutes, 0);
const environment = Object.fromEntries(Object.entries(process.env).filter(([name]) => name !== 'CI'));

/** The output of a program in the project's folder, without CI=1. */
const printedBy = (words: readonly string[], env: Readonly<Record<string, string>> = {}): string =>
  execFileSync(process.execPath, words, { cwd: root, encoding: 'utf8', env: { ...environment, ...env } });

it('the workflows pin GitHub actions to commits, since tags can move', () => {
  const used = filesBelow('.github').flatMap((path) => textOf(path).match(/uses: .*/g) ?? []);
  expect(used.length).toBeGreaterThan(0);
  expect(used.filter((one) => !/^uses: [a-z-]+\/[a-z-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(one))).toEqual([]);
});

describe('the time limits of the CI gates', () => {
  it('add up to less than 85 minutes', () => {
    expect(totalMinutes).toBe(85);
    expect(sumOf(ci)).toBeLessThan(85);
  });

  it('leave 40 minutes to repeat the longest gate after a 45-minute run', () => {
    const last = ci.at(-1) as Gate;
    expect(last.minutes).toBe(Math.max(...ci.map(({ minutes }) => minutes)));
    expect(secondRunMinutes(ci, last, 45)).toBe(40);
  });

  it('reserve time for later gates during a second run', () => {
    ci.forEach((gate, at) => {
      expect(secondRunMinutes(ci, gate, sumOf(ci.slice(0, at + 1)))).toBe(totalMinutes - sumOf(ci));
    });
  });
});

describe('the workflows', () => {
  const workflow = (name: string) => parseYaml(textOf(`.github/workflows/${name}.yml`));
  const stepsOf = (job: { steps: readonly { run?: string }[] }): readonly string[] =>
    job.steps.flatMap(({ run }) => run ?? []);

  it('run every gate on every change with enough time', () => {
    const { gates } = workflow('check').jobs;
    expect(stepsOf(gates)).toEqual(['sudo -E env "PATH=$PATH" .ci/run']);
    expect(gates['timeout-minutes']).toBeGreaterThanOrEqual(totalMinutes);
  });

  it("run every node script test under a Mac's shell", () => {
    expect(stepsOf(workflow('check').jobs.tests)).toContain('npm run test:shells');
    const listing = textOf('package.json').match(/"test:shells": "MESHWRIGHT_TESTS=(\w+) vitest run ([^"]+)"/);
    const [, selection = '', paths = ''] = listing ?? [];
    const words = ['node_modules/vitest/vitest.mjs', 'list', '--filesOnly', ...paths.split(' ')];
    const listed = printedBy(words, { MESHWRIGHT_TESTS: selection });
    const files = listed.split('\n').flatMap((line) => /test\/\S+\.test\.ts/.exec(line)?.[0] ?? []);
    const scripts = filesBelow('test/unit/engine/scripts').filter((path) => path.endsWith('.test.ts'));
    expect(files.toSorted()).toEqual(['test/architecture/node-scripts.slow.test.ts', ...scripts].toSorted());
  });

  it("run 'npm run nightly' every night", () => {
    const { on, jobs } = workflow('nightly');
    expect(on.schedule).toEqual([{ cron: expect.any(String) }]);
    expect(stepsOf(jobs.nightly).at(-1)).toMatch(/^npm run nightly\b/);
  });
});

describe('a test', () => {
  it('has no shorter time limit than the global one', () => {
    const all = 120_000;
    const isOfVitest = /^(?:it|test|describe|beforeAll|beforeEach|afterAll|afterEach)\b/;
    const msOf = (node: ts.Node): number =>
      ts.isNumericLiteral(node) ? Number(node.text.replaceAll('_', '')) : Number.POSITIVE_INFINITY;
    const limitOf = (argument: ts.Expression): number => {
      if (!ts.isObjectLiteralExpression(argument)) return msOf(argument);
      const option = argument.properties.find((one) => one.name?.getText() === 'timeout');
      return option !== undefined && ts.isPropertyAssignment(option)
        ? msOf(option.initializer)
        : Number.POSITIVE_INFINITY;
    };
    const short = filesBelow('test')
      .filter((path) => path.endsWith('.test.ts') && /\d_000,?\s*\);|\btimeout: /.test(textOf(path)))
      .flatMap((path) =>
        [...nodesOf(parse(path))]
          .filter((node) => ts.isCallExpression(node))
          .filter(({ expression }) => isOfVitest.test(expression.getText()))
          .filter(({ arguments: given }) => given.slice(1).some((argument) => limitOf(argument) <= all))
          .map(({ arguments: given }) => `${path}: ${given[0]?.getText().slice(0, 60)}`),
      );
    expect(short).toEqual([]);
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
