import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/** A place for the results as JSON: `.ci/run` sets it and adds the counts up. */
const results = process.env['MESHWRIGHT_RESULTS'];

/** Tests that run the built command itself; only they wait for a build. */
const builtOnes = ['test/cli/**/*.test.ts', 'test/scenarios/**/*.test.ts', 'test/architecture/pure-run.test.ts'];

/** Whole runs of many seconds each: `.ci/run` has the patience for them, whoever types `npm test` has not. */
const longRuns =
  process.env['MESHWRIGHT_FULL'] === '1'
    ? []
    : [
        'test/cli/{act,apply,demo,faults,playbook,status}.test.ts',
        'test/scenarios/converge-{drift,effects,failures,keys,login}.test.ts',
        'test/scenarios/demo-sshd.test.ts',
        'test/scenarios/{kill-apply,kill-reboot,kill-restart,start-phases}.test.ts',
        'test/scenarios/{faults-found,observe-silence,sim-launchd-mesh,sim-network,sim-reboot,sim-supervisor}.test.ts',
      ];

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
      {
        extends: true,
        test: { name: 'whole', include: builtOnes, exclude: longRuns, globalSetup: 'test/global-setup.ts' },
      },
    ],
  },
});
