import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/** A place for the results as JSON: `.ci/run` sets it and adds the counts up. */
const results = process.env['MESHWRIGHT_RESULTS'];

/** Tests that run the built command itself; only they wait for a build. */
const builtOnes = ['test/cli/**/*.test.ts', 'test/scenarios/**/*.test.ts', 'test/architecture/pure-run.test.ts'];

export default defineConfig({
  test: {
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Many tests wait for processes of their own: all cores, where vitest would leave one free.
    maxWorkers: availableParallelism(),
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
      { extends: true, test: { name: 'parts', include: ['test/**/*.test.ts'], exclude: builtOnes } },
      { extends: true, test: { name: 'whole', include: builtOnes, globalSetup: 'test/global-setup.ts' } },
    ],
  },
});
