import { accessSync, constants, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { availableParallelism, freemem } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** A place for the results as JSON: `.ci/run` sets it and adds the counts up. */
const results = process.env['MESHWRIGHT_RESULTS'];

/** Tests that run the built command itself; only they wait for a build. */
const builtOnes = ['test/cli/**/*.test.ts', 'test/scenarios/**/*.test.ts', 'test/architecture/pure-run.test.ts'];

/** Runs of many seconds each: `.ci/run` has the patience for them, whoever types `npm test` has not. */
const longRuns = [
  'test/cli/{act,apply,cables-watch,crashes,demo,doctor,doctor-suspects,exec,faults,lease-held,logs-follow}.test.ts',
  'test/cli/{enroll-install,playbook,replace,sim,status,surroundings,unconfirmed-change,uninstall,unlock}.test.ts',
  'test/scenarios/apply-{files,lease,playbook,reboot,transaction}.test.ts',
  'test/scenarios/converge-{effects,failures,hindered,login,moves,traces,twice}.test.ts',
  'test/scenarios/{daemon-fights,demo-sshd,faults-found,faults-healed,graph-chromium,hostile-contents,hostile-streams,kill-apply,kill-reboot}.test.ts',
  'test/scenarios/{observe-counts,observe-independence,observe-silence,ssh-exec-faults,sshd-observe}.test.ts',
  'test/scenarios/sim-{contract,launchd,launchd-boots,launchd-mesh,network,reboot,supervisor,writes}.test.ts',
  'test/scenarios/{cut-transaction,keeper,keeper-refused,unlock-node,watch-fleet}.test.ts',
];

/** Simulated Macs with namespaces of their own: Linux and root only, so nobody else is asked for them. */
const inNamespaces = ['test/namespace/**/*.test.ts'];

/** What `npm test` tries a sample of, and all of it with MESHWRIGHT_FULL=1. */
const samples = {
  parts: ['test/property/known-hosts-openssh.test.ts'],
  whole: ['test/scenarios/{converge-drift,converge-keys,hostile-frames,kill-restart,start-phases}.test.ts'],
};

/** `rest` is what `.ci/run` has still to do after `npm test`. */
const select = {
  everyday: { parts: ['test/**/*.test.ts'], whole: builtOnes, left: longRuns },
  rest: { parts: samples.parts, whole: [...longRuns, ...samples.whole], left: [] },
  all: { parts: ['test/**/*.test.ts'], whole: builtOnes, left: [] },
  namespace: { parts: [], whole: [], left: [] },
};
const asked = process.env['MESHWRIGHT_TESTS'] ?? 'everyday';
const selected = Object.entries(select).find(([name]) => name === asked)?.[1];
if (selected === undefined) throw new Error(`MESHWRIGHT_TESTS is one of ${Object.keys(select).join(', ')}`);

/** Minutes each. Whoever begins with them has no core idle at the end. */
const longest = ['kill-apply', 'kill-restart', 'kill-reboot', 'start-phases'];

const rankOf = ({ moduleId }: TestSpecification): number => {
  const rank = longest.findIndex((name) => moduleId.endsWith(`/${name}.test.ts`));
  return rank < 0 ? longest.length : rank;
};

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => rankOf(a) - rankOf(b));
  }
}

const gibibyte = 2 ** 30;

/**
 * Simulated Macs write and throw away thousands of small files. Where memory is plenty they lie there: that takes a
 * fifth of the time away. Only Linux has such a folder; whoever names one by TMPDIR gets that.
 */
function inMemory(): string | undefined {
  const shared = '/dev/shm';
  if (process.env['TMPDIR'] !== undefined || process.platform !== 'linux') return undefined;
  try {
    const { bavail, bsize } = statfsSync(shared);
    const limit = process.constrainedMemory() || Number.POSITIVE_INFINITY;
    if (Math.min(bavail * bsize, freemem(), limit) < 6 * gibibyte) return undefined;
    const folder = mkdtempSync(join(shared, 'mw-'));
    process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
    writeFileSync(join(folder, 'program'), '', { mode: 0o755 });
    // Fails where no program may be run from there.
    accessSync(join(folder, 'program'), constants.X_OK);
    return folder;
  } catch {
    return undefined;
  }
}

const memory = inMemory();
if (memory !== undefined) process.env['TMPDIR'] = memory;

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Many tests wait for processes of their own: all cores, where vitest would leave one free.
    maxWorkers: availableParallelism(),
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
      { extends: true, test: { name: 'parts', include: selected.parts, exclude: [...builtOnes, ...inNamespaces] } },
      { extends: true, test: { name: 'namespace', include: asked === 'namespace' ? inNamespaces : [] } },
      {
        extends: true,
        test: { name: 'whole', include: selected.whole, exclude: selected.left, globalSetup: 'test/global-setup.ts' },
      },
    ],
  },
});
