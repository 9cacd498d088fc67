import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { inMemory } from './test/memory-folder.ts';

/** A place for the results as JSON: `.ci/run` sets it and adds the counts up. */
const results = process.env['MESHWRIGHT_RESULTS'];

/** Tests that run the built command itself; only they wait for a build. */
const builtOnes = ['test/cli/**/*.test.ts', 'test/scenarios/**/*.test.ts', 'test/architecture/pure-run.test.ts'];

/** Runs of many seconds each: `.ci/run` has the patience for them, whoever types `npm test` has not. */
const longRuns = [
  'test/scenarios/llama-{cache,placement}.test.ts',
  'test/cli/{act,apply,bench,blind-follower,canary,drain,hold,launch,rollback,cables-watch,crashes,demo,doctor,doctor-suspects,enroll,exec,faults,fit-model,golden-proof,kill-verbs,lease-held,log,logs-elsewhere,logs-follow,lost-member}.test.ts',
  'test/cli/{doubles,macos-27,restart-refused,thunderbolt-4,enroll-answers,enroll-install,factory,graph,playbook,replace,sim,status,stop-ladder,surroundings,unconfirmed-change,uninstall,unlock,yesterday}.test.ts',
  'test/scenarios/{apply-failures,apply-files,apply-lease,apply-playbook,apply-reboot,apply-transaction,start-phases}.test.ts',
  'test/scenarios/converge-{accounts,effects,failures,hindered,login,moves,traces,twice}.test.ts',
  'test/scenarios/{daemon-fights,demo-sshd,faults-found,faults-healed,graph-chromium,hostile-contents,hostile-frames,hostile-streams}.test.ts',
  'test/scenarios/{kill-apply,kill-first-start,kill-reboot,kill-restart}.test.ts',
  'test/scenarios/{observe-counts,observe-independence,observe-silence,ssh-exec-faults,sshd-observe}.test.ts',
  'test/cli/{cables,endpoints,observe,skeletons}.test.ts',
  'test/scenarios/doorman-{clients,fleet,raw,refusals,siege}.test.ts',
  'test/scenarios/sim-{contract,launchd,launchd-boots,launchd-mesh,network,reboot,ssh,supervisor,writes}.test.ts',
  'test/scenarios/{exo-double,exo-mesh,start-exo}.test.ts',
  'test/scenarios/mlx-{build,mesh,ranks}.test.ts',
  'test/scenarios/{overlapping-placements,command-llama,cut-transaction,keeper,keeper-refused,transcripts,unlock-node,watch-fleet}.test.ts',
];

/**
 * The same of tests that run no built command: they run scripts of nodes under each shell, and wait for deadlines; or
 * they try the gates themselves, each of which reads the whole project.
 */
const longParts = [
  'test/property/{facts-never-wrong,script-quote}.test.ts',
  'test/unit/script/{jobs,observe-script-given-up,odd-macs,rank-scripts,rdma-starts,stop-ladder,tool-does-nothing,tool-fails}.test.ts',
  'test/unit/facts/{kept-on-node,rdma-kernel-probe,whole-observation}.test.ts',
  'test/architecture/{docs-gate,layers,node-scripts,pure-folders}.test.ts',
];

/** Simulated Macs with namespaces of their own: Linux and root only, so nobody else is asked for them. */
const inNamespaces = ['test/namespace/**/*.test.ts'];

/** What `npm test` tries few cases of, `.ci/run` a sample drawn by the commit, and `npm run nightly` all. */
const samples = {
  parts: [
    'test/property/{cabling-moves,config-edits,config-never-throws,known-hosts-openssh,placement-plans,plan}.test.ts',
    'test/unit/script/{lease-interleaved,texts-before}.test.ts',
  ],
  whole: ['test/scenarios/{converge-drift,converge-keys}.test.ts'],
};

/** `rest` is what `.ci/run` has still to do after `npm test`. */
const select = {
  everyday: { parts: ['test/**/*.test.ts'], whole: builtOnes, left: [...longRuns, ...longParts] },
  rest: { parts: [...longParts, ...samples.parts], whole: [...longRuns, ...samples.whole], left: [] },
  all: { parts: ['test/**/*.test.ts'], whole: builtOnes, left: [] },
  namespace: { parts: [], whole: [], left: [] },
};
const asked = process.env['MESHWRIGHT_TESTS'] ?? 'everyday';
const selected = Object.entries(select).find(([name]) => name === asked)?.[1];
if (selected === undefined) throw new Error(`MESHWRIGHT_TESTS is one of ${Object.keys(select).join(', ')}`);

/** A minute each, or several. Whoever begins with them has no core idle at the end. */
const longest = [
  ...[
    'kill-first-start',
    'kill-apply',
    'cli/kill-verbs',
    'kill-restart',
    'kill-reboot',
    'start-phases',
    'mlx-mesh',
    'exo-mesh',
    'start-exo',
    'cli/act',
  ],
  ...['cli/blind-follower', 'cli/skeletons', 'cli/stop-ladder', 'cli/launch'],
  ...['namespace/llama', 'namespace/faults-healed', 'namespace/contract'],
];

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

const memory = await inMemory();
if (memory !== undefined) process.env['TMPDIR'] = memory;

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
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
        test: { name: 'parts', include: selected.parts, exclude: [...builtOnes, ...inNamespaces, ...selected.left] },
      },
      { extends: true, test: { name: 'namespace', include: asked === 'namespace' ? inNamespaces : [] } },
      {
        extends: true,
        test: { name: 'whole', include: selected.whole, exclude: selected.left, globalSetup: 'test/global-setup.ts' },
      },
    ],
  },
});
