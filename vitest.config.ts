import { execFileSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { inMemory } from './test/memory-folder.ts';

/** A place for the results as JSON: `.ci/run` sets it and adds the counts up. */
const results = process.env['MESHWRIGHT_RESULTS'];

/** Tests that run the built command itself are in these folders; only they wait for a build. */
const built = ['test/cli/**', 'test/scenarios/**'];

/**
 * Slow ones: `.ci/run` has the patience for them, whoever types `npm test` has not. They take many seconds, run scripts of
 * nodes under each shell, wait for deadlines, or try gates that read the whole project.
 */
const slow = '*.slow.test.ts';

/** What `npm test` tries few cases of, `.ci/run` a sample drawn by the commit, and `npm run nightly` all. */
const sampled = '*.sampled.test.ts';

/** Simulated Macs with namespaces of their own: Linux and root only, so nobody else is asked for them. */
const inNamespaces = 'test/namespace/**';

/** `rest` is what `.ci/run` has still to do after `npm test`. */
const select = {
  everyday: { names: ['*.test.ts'], left: [slow] },
  rest: { names: [slow, sampled], left: [] },
  all: { names: ['*.test.ts'], left: [] },
  namespace: { names: [], left: [] },
};
const asked = process.env['MESHWRIGHT_TESTS'] ?? 'everyday';
const selected = Object.entries(select).find(([name]) => name === asked)?.[1];
if (selected === undefined) throw new Error(`MESHWRIGHT_TESTS is one of ${Object.keys(select).join(', ')}`);

/** Files of these folders with a name that was asked for. */
const filesIn = (folders: readonly string[]): string[] =>
  folders.flatMap((folder) => selected.names.map((name) => `${folder}/${name}`));
const left = selected.left.map((name) => `test/**/${name}`);

// Makes the modules of src that are not in git.
execFileSync(process.execPath, ['scripts/make-sources.mjs'], { cwd: import.meta.dirname, stdio: 'inherit' });

const memory = await inMemory();
if (memory !== undefined) process.env['TMPDIR'] = memory;

/** Tests that kill something after each step take minutes: begun first, they leave no core idle at the end. */
class KillsFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isKill = ({ moduleId }: TestSpecification): boolean => /\/kill-[^/]*$/.test(moduleId);
    const sorted = await super.sort(files);
    return [...sorted.filter(isKill), ...sorted.filter((file) => !isKill(file))];
  }
}

export default defineConfig({
  test: {
    sequence: { sequencer: KillsFirst },
    setupFiles: ['test/property-seed.ts'],
    // These end what hangs, and measure nothing: a loaded machine needs several times as long as an idle one.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // Many tests wait for processes of their own: all cores, where vitest would leave one free. Macs in namespaces wait
    // for deadlines of real programs besides.
    maxWorkers: availableParallelism() + (asked === 'namespace' ? 1 : 0),
    // A golden file is written with `-u` only: a missing one is a failure, with or without CI=1.
    update: 'none',
    // No test changes what another one imports, and most of two hundred files import the same.
    isolate: false,
    reporters: results === undefined ? ['default'] : ['default', 'json'],
    ...(results === undefined ? {} : { outputFile: { json: results } }),
    coverage: {
      provider: 'v8',
      include: ['src/**/*.ts'],
      exclude: ['src/**/*.generated.ts'],
      reporter: ['text-summary', 'json-summary'],
      reportOnFailure: true,
    },
    projects: [
      {
        extends: true,
        test: { name: 'parts', include: filesIn(['test/**']), exclude: [...built, inNamespaces, ...left] },
      },
      {
        extends: true,
        test: { name: 'namespace', include: asked === 'namespace' ? [`${inNamespaces}/*.test.ts`] : [] },
      },
      {
        extends: true,
        test: { name: 'whole', include: filesIn(built), exclude: left, globalSetup: 'test/global-setup.ts' },
      },
    ],
  },
});
