import { execFileSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { inMemory } from './test/memory-folder.ts';

/** The file for results as JSON: `.ci/run` sets it and adds up the counts. */
const results = process.env['MESHWRIGHT_RESULTS'];

/** Folders with tests that run the built command; only these tests wait for a build. */
const built = ['test/cli/**', 'test/scenarios/**'];

/**
 * Slow tests, which `.ci/run` runs and `npm test` skips. They take many seconds, run node scripts under each shell,
 * wait for deadlines, or test gates that read the whole project.
 */
const slow = '*.slow.test.ts';

/** Sampled tests: `npm test` tries a few cases, `.ci/run` a sample drawn by the commit, and `npm run nightly` all. */
const sampled = '*.sampled.test.ts';

/** Tests with simulated Macs in namespaces. They need Linux and root, so they run only on request. */
const inNamespaces = 'test/namespace/**';

/** `rest` selects the tests that remain for `.ci/run` after `npm test`. */
const select = {
  everyday: { names: ['*.test.ts'], left: [slow] },
  rest: { names: [slow, sampled], left: [] },
  all: { names: ['*.test.ts'], left: [] },
  namespace: { names: [], left: [] },
};
const asked = process.env['MESHWRIGHT_TESTS'] ?? 'everyday';
const selected = Object.entries(select).find(([name]) => name === asked)?.[1];
if (selected === undefined) throw new Error(`MESHWRIGHT_TESTS must be one of ${Object.keys(select).join(', ')}`);

/** The files in these folders whose names are selected. */
const filesIn = (folders: readonly string[]): string[] =>
  folders.flatMap((folder) => selected.names.map((name) => `${folder}/${name}`));
const left = selected.left.map((name) => `test/**/${name}`);

// Generates the modules in src that are not in git.
execFileSync(process.execPath, ['scripts/make-sources.mjs'], { cwd: import.meta.dirname, stdio: 'inherit' });

const memory = await inMemory();
if (memory !== undefined) process.env['TMPDIR'] = memory;

/** Tests that kill something after each step take minutes. They start first, so that no core is idle at the end. */
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
    // Limits for hanging tests only: a busy machine takes several times as long as an idle one.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // Many tests wait for other processes, so use all cores; by default, vitest leaves one free. Macs in namespaces
    // also wait for deadlines of real programs.
    maxWorkers: availableParallelism() + (asked === 'namespace' ? 1 : 0),
    // Only `-u` writes golden files: a missing file is a failure, with or without CI=1.
    update: 'none',
    // No test changes modules that another test imports, and most of two hundred files import the same modules.
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
