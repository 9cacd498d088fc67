import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { observeFleet } from '../../src/apply/observe.ts';
import type { RunOptions } from '../../src/apply/run-options.ts';
import { runPlan } from '../../src/apply/run-plan.ts';
import type { RunReport } from '../../src/apply/run-report.ts';
import type { NodeWay } from '../../src/apply/with-remote.ts';
import { readArchive, readFolder } from '../../src/cli/read-sources.ts';
import { loadCluster } from '../../src/config/load-cluster.ts';
import { emptyLock } from '../../src/config/lock.ts';
import { withNodes } from '../../src/desired/lock-nodes.ts';
import { type SettledFleet, settleFleet } from '../../src/desired/settle.ts';
import { sourcesToRead } from '../../src/desired/source-facts.ts';
import type { Diagnostic } from '../../src/diagnostics/diagnostic.ts';
import { hasErrors } from '../../src/diagnostics/severity.ts';
import type { FleetObservation } from '../../src/doctor/fleet-observation.ts';
import type { ClusterLock } from '../../src/model/cluster-lock.ts';
import type { DesiredFleet } from '../../src/model/desired.ts';
import type { Goal } from '../../src/plan/goal.ts';
import { isEmptyPlan } from '../../src/plan/is-empty-plan.ts';
import { makePlan } from '../../src/plan/make-plan.ts';
import type { Plan } from '../../src/plan/plan.ts';
import { modelledFleet } from '../../src/sim/host/modelled-fleet.ts';
import { readSavedState } from '../../src/sim/host/saved-state.ts';
import { type Fleet, startFleet } from '../../src/sim/host/start-fleet.ts';
import { writeReferenceArchive, writeTinyModel } from '../../src/sim/reference/reference.ts';
import { controller, keptJournal, quickTiming, wayTo } from './apply-rack.ts';
import { unnamedEffects } from './converge-effects.ts';
import { type FileValue, fileText, pairFile } from './converge-file.ts';
import { connect, type Ran, run } from './sim-fixture.ts';

/** One apply: what it began from, what it showed and did, and what is left to be done. */
export interface Applied {
  readonly plan: Plan;
  /** Absent when the plan had no step, so that nothing was run. */
  readonly report?: RunReport;
  readonly after: Plan;
}

/** What an apply may be given: everything of a run, and ways of its own. */
export type ApplyWish = Partial<RunOptions> & { readonly goal?: Goal };

/** A simulated rack in this process, with a cluster file whose wishes are resolved, and what is done with them. */
export interface ConvergeRack {
  /** Private to the test; the cluster file would lie here. */
  readonly folder: string;
  readonly fleet: () => Fleet;
  readonly desired: () => DesiredFleet;
  readonly lock: () => ClusterLock;
  /** Another cluster file, from now on. Gives what is wrong with it; then the file stays as it was. */
  readonly declare: (file: FileValue) => Promise<readonly Diagnostic[]>;
  /** Changes what the lock keeps, as `forget` does. */
  readonly relock: (change: (lock: ClusterLock) => ClusterLock) => void;
  readonly ways: () => readonly NodeWay[];
  readonly observe: () => Promise<FleetObservation>;
  /** Observes, and makes the plan. Nothing may be disturbed by that. */
  readonly plan: (goal?: Goal) => Promise<Plan>;
  /** Observes, plans, runs, observes again and plans again. Nothing may be disturbed that the plan did not name. */
  readonly apply: (wish?: ApplyWish) => Promise<Applied>;
  /** The same, which has to end with nothing left to do. */
  readonly converge: (wish?: ApplyWish) => Promise<Applied>;
  /** Runs a script as root on a node, outside of every plan; `$R` is its root. */
  readonly asRoot: (node: string, script: string) => Promise<Ran>;
  /** Whatever this disturbs needs no plan. */
  readonly behindOurBack: <T>(act: (fleet: Fleet) => Promise<T>) => Promise<T>;
  /** Every Mac goes down and starts from its disk. */
  readonly restart: () => Promise<void>;
  /** Ends everything. No Mac may have been asked what it would not have known. */
  readonly stop: () => Promise<void>;
}

const allTargets = (fleet: DesiredFleet) => fleet.nodes.map(({ name }) => name);

/** Resolves a cluster file as the command line does. */
async function settle(file: FileValue, lock: ClusterLock, folder: string): Promise<SettledFleet> {
  const { fleet, diagnostics } = loadCluster(fileText(file), 'cluster.yaml');
  if (fleet === undefined) throw new Error(diagnostics.map(({ code, detail }) => `${code}: ${detail}`).join('\n'));
  const { archives, folders } = sourcesToRead(fleet, lock, folder);
  const { signal } = new AbortController();
  const read = async <T>(places: typeof archives, by: (path: string, signal: AbortSignal) => Promise<T>) =>
    Object.fromEntries(
      await Promise.all(places.map(async ({ name, path }) => [name, await by(path, signal)] as const)),
    );
  const sources = { archives: await read(archives, readArchive), folders: await read(folders, readFolder) };
  return settleFleet(fleet, lock, sources, folder);
}

/** Brings a rack up for a cluster file: the example's, cut down to two nodes, unless another one is given. */
export async function startConvergeRack(seed: string, file: FileValue = pairFile()): Promise<ConvergeRack> {
  const folder = await mkdtemp(join(tmpdir(), 'mw-converge-'));
  await writeReferenceArchive(join(folder, 'dist/reference.tar.gz'));
  await writeTinyModel(join(folder, 'models/tiny'));
  let settled = await settle(file, emptyLock('cluster.lock'), folder);
  const start = async (): Promise<Fleet> => {
    const run = join(folder, 'run');
    const model = modelledFleet(settled.fleet, seed, await readSavedState(run));
    return startFleet({ folder: run, model, clockFactor: 1 / 100 });
  };
  let fleet = await start();
  /** How many effects somebody has answered for. */
  let named = 0;

  const waysNow = (): readonly NodeWay[] => allTargets(settled.fleet).map((name) => wayTo(fleet, name));
  const limits = { parallel: 16, deadlineMs: 60_000, newToken: () => randomBytes(16).toString('hex') };
  const observe = (ways = waysNow()): Promise<FleetObservation> => observeFleet(ways, limits);
  const planFor = (observation: FleetObservation, goal: Goal): Plan =>
    makePlan({ goal, desired: settled.fleet, observation, targets: allTargets(settled.fleet) });
  const newEffects = () => {
    const effects = fleet.effects().slice(named);
    named += effects.length;
    return effects;
  };
  const expectQuiet = (seen: FleetObservation): void => expect(unnamedEffects(newEffects(), [], seen)).toEqual([]);

  const apply = async ({ goal = { kind: 'converge' }, ...wish }: ApplyWish = {}): Promise<Applied> => {
    const seen = await observe(wish.ways);
    const plan = planFor(seen, goal);
    expectQuiet(seen);
    if (plan.steps.length === 0) return { plan, after: plan };
    const report = await runPlan(plan, {
      ...limits,
      ways: waysNow(),
      desired: settled.fleet,
      verb: 'apply',
      controller: controller(),
      journal: keptJournal(),
      timing: quickTiming,
      leaseWaitMs: 0,
      onEvent: () => undefined,
      ...wish,
    });
    const steps = [...plan.steps, ...plan.rescues.flatMap((rescue) => rescue.steps)];
    expect(unnamedEffects(newEffects(), steps, seen)).toEqual([]);
    const later = await observe(wish.ways);
    settled = { ...settled, lock: withNodes(settled.lock, allTargets(settled.fleet)) };
    const after = planFor(later, goal);
    expectQuiet(later);
    return { plan, report, after };
  };

  return {
    folder,
    fleet: () => fleet,
    desired: () => settled.fleet,
    lock: () => settled.lock,
    declare: async (wanted) => {
      const next = await settle(wanted, settled.lock, folder);
      if (!hasErrors(next.diagnostics)) settled = next;
      return next.diagnostics;
    },
    relock: (change) => {
      settled = { ...settled, lock: change(settled.lock) };
    },
    ways: waysNow,
    observe,
    plan: async (goal = { kind: 'converge' }) => {
      const seen = await observe();
      expectQuiet(seen);
      return planFor(seen, goal);
    },
    apply,
    converge: async (wish) => {
      const applied = await apply(wish);
      const failed = applied.report?.steps.filter(({ outcome }) => outcome !== 'changed' && outcome !== 'unchanged');
      expect((failed ?? []).map(({ step, outcome, diagnostics }) => ({ id: step.id, outcome, diagnostics }))).toEqual(
        [],
      );
      expect(isEmptyPlan(applied.after) ? [] : leftIn(applied.after)).toEqual([]);
      return applied;
    },
    asRoot: (node, script) => asRoot(fleet, node, script),
    behindOurBack: async (act) => {
      try {
        return await act(fleet);
      } finally {
        newEffects();
      }
    },
    restart: async () => {
      await expectKnown(fleet);
      await fleet.stop();
      named = 0;
      fleet = await start();
    },
    stop: async () => {
      try {
        await expectKnown(fleet);
      } finally {
        await fleet.stop();
        await rm(folder, { recursive: true, force: true });
      }
    },
  };
}

/** Nobody may have asked a Mac what it would not have known. */
const expectKnown = async (fleet: Fleet): Promise<void> =>
  expect(Object.values(await fleet.unknown()).flat()).toEqual([]);

/** One script as root, on standard input as the product sends it. */
async function asRoot(fleet: Fleet, node: string, script: string): Promise<Ran> {
  const client = await connect(fleet, node);
  const root = fleet.nodes[node]?.root ?? '';
  const ran = await run(client, `exec '${root}/usr/bin/sudo' -n '${root}/bin/sh' -s`, `R='${root}'\n${script}\n`);
  client.end();
  return ran;
}

/** Everything that a plan still wants, one line each. */
export const leftIn = ({ changes, steps, waiting, blockers }: Plan): readonly string[] => [
  ...changes.map(({ id, from, to }) => `change ${id}: ${from} -> ${to}`),
  ...steps.map(({ id }) => `step ${id}`),
  ...waiting.map(({ node, resource, for: reasons }) => `waiting ${node} ${resource}: ${reasons.join(', ')}`),
  ...blockers.map(({ node, code, action }) => `blocker ${node} ${code}: ${action}`),
];

/** Ids of the changes of a plan: `studio-1 power/sleep`. */
export const changesIn = ({ changes }: Plan): readonly string[] => changes.map(({ id }) => id);
