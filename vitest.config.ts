import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { changedSince, filesForCi, git, isSampled, isSlow, nightRows, testFiles } from './test/chosen-files.ts';
import { inMemory } from './test/memory-folder.ts';
import { longestWaitMs } from './test/until.ts';

/** The file for results as JSON: `.ci/run` sets it and adds up the counts. */
const results = process.env['MESHWRIGHT_RESULTS'];

const asked = process.env['MESHWRIGHT_TESTS'] ?? 'everyday';
const isInCi = process.env['MESHWRIGHT_DEPTH'] === 'share';

process.env['MESHWRIGHT_POSITION'] ??= git('rev-list', '--count', 'HEAD') ?? '0';

const isOfSources = (path: string): boolean => path.startsWith('test/architecture/');
const isInNamespaces = (path: string): boolean => path.startsWith('test/namespace/');
const chosen = (files: readonly string[]): readonly string[] =>
  isInCi
    ? filesForCi(files, {
        position: Number(process.env['MESHWRIGHT_POSITION']),
        rows: nightRows(readFileSync('docs/nightly.md', 'utf8')),
        changedSince,
      })
    : files;
const files = testFiles();

/**
 * The selections of MESHWRIGHT_TESTS. Macs in namespaces need Linux and root. `sources` are the checks of the sources,
 * a gate of `npm run check`; `rest` is what CI runs of the slow tests.
 */
const selections: Readonly<Record<string, () => readonly string[]>> = {
  everyday: () => files.filter((path) => !isSlow(path) && !isOfSources(path) && !isInNamespaces(path)),
  sources: () => files.filter((path) => isOfSources(path) && !isSlow(path)),
  rest: () => chosen(files.filter((path) => isSlow(path) || isSampled(path))),
  namespace: () => chosen(files.filter(isInNamespaces)),
  all: () => files.filter((path) => !isInNamespaces(path)),
};
const selected = selections[asked]?.();
if (selected === undefined) throw new Error(`MESHWRIGHT_TESTS must be one of ${Object.keys(selections).join(', ')}`);

/**
 * Compiled modules of the sources, and the time that each test file took. They outlive `npm ci`, and a folder of each
 * set of packages keeps a compiler's output from its successor.
 */
const cacheFolder = `.cache/${createHash('sha256').update(readFileSync('package-lock.json')).digest('hex').slice(0, 12)}`;

// Generates the modules in src that are not in git.
execFileSync(process.execPath, ['scripts/make-sources.mjs'], { cwd: import.meta.dirname, stdio: 'inherit' });

const memory = await inMemory();
if (memory !== undefined) process.env['TMPDIR'] = memory;

/** Tests that kill something after each step take minutes. They start first, so that no core is idle at the end. */
class KillsFirst extends BaseSequencer {
  override async sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    const isKill = ({ moduleId }: TestSpecification): boolean => /\/kill-[^/]*$/.test(moduleId);
    const sorted = await super.sort(specifications);
    return [...sorted.filter(isKill), ...sorted.filter((file) => !isKill(file))];
  }
}

export default defineConfig({
  cacheDir: cacheFolder,
  test: {
    include: [...selected],
    // In CI, a file may have only a group whose turn it is not.
    passWithNoTests: isInCi,
    globalSetup: 'test/global-setup.ts',
    experimental: { fsModuleCache: true, fsModuleCachePath: `${cacheFolder}/modules` },
    sequence: { sequencer: KillsFirst },
    setupFiles: ['test/property-seed.ts'],
    // Limits for hanging tests only: a busy machine takes several times as long as an idle one.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: longestWaitMs } },
    // Many tests wait for other processes, so use all cores; by default, vitest leaves one free. Macs in namespaces
    // also wait for deadlines of real programs. Checks of the sources share the syntax trees.
    maxWorkers: asked === 'sources' ? 1 : availableParallelism() + (asked === 'namespace' ? 1 : 0),
    // A test that a busy machine disturbed passes the second time; the log shows it as "(retry x1)".
    retry: process.env['CI'] === undefined ? 0 : 1,
    // Only `-u` writes golden files: a missing file is a failure, with or without CI=1.
    update: 'none',
    // No test leaves changed modules to another test, and most of two hundred files import the same modules.
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
  },
});
