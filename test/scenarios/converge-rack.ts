import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { RunOptions, RunReport } from '../../src/apply/open-run.ts';
import { observeFleet } from '../../src/apply/reach/observe.ts';
import type { NodeTarget } from '../../src/apply/reach/session.ts';
import { vacantNetworks } from '../../src/cli/apply/apply.ts';
import { codeForPlan } from '../../src/cli/apply/run-outcome.ts';
import { emptyLock } from '../../src/config/lock.ts';
import { type SettledFleet, withNodes, withoutFormerNetworks } from '../../src/desired/settle/settle.ts';
import { plainText } from '../../src/diagnostics/prose-text.ts';
import { targetsForGoal } from '../../src/engine/goals/registry.ts';
import { fleetWithout } from '../../src/engine/goals/uninstall.ts';
import { makePlan } from '../../src/engine/plan/make-plan.ts';
import { isEmptyPlan, type Plan } from '../../src/engine/plan/plan.ts';
import type { ClusterLock } from '../../src/model/cluster-lock.ts';
import type { DesiredFleet } from '../../src/model/desired.ts';
import type { Step } from '../../src/model/step.ts';
import type { FleetObservation } from '../../src/rack/examination.ts';
import type { Goal } from '../../src/rack/goal.ts';
import type { RemoteListener } from '../../src/remote/remote.ts';
import { readSavedState } from '../../src/sim/hosts/control/run-folder.ts';
import {
  type Fleet,
  type RunningFleet,
  type StartFleetOptions,
  startFleet,
} from '../../src/sim/hosts/control/start-fleet.ts';
import { modelledFleet } from '../../src/sim/hosts/modelled-fleet.ts';
import type { RecordedEffect } from '../../src/sim/hosts/records.ts';
import { expectNobodyBelow, type Ran, sh, wayTo } from '../rack/running.ts';
import { controller, keptJournal, quickTiming } from './apply-rack.ts';
import { unnamedEffects } from './converge-effects.ts';
import { type FileValue, pairFile, writeSources } from './converge-file.ts';
import { type Read, readFile } from './converge-read.ts';
import { keepersAtRest } from './keepers-at-rest.ts';
import { writePublishedSources } from './published-sources.ts';
import { runPlan } from './run-plan.ts';

/** One apply: its observations, its plan, its report and the remaining plan. */
export interface Applied {
  /** The first and the last observation; the same one if no step ran. */
  readonly looks: { readonly first: FleetObservation; readonly last: FleetObservation };
  readonly plan: Plan;
  /** Undefined if the plan had no steps. */
  readonly report?: RunReport;
  readonly after: Plan;
  /** The exit code of the command line after the last observation. */
  readonly exit: number;
}

/** The options of an apply: those of a run, and its own. */
export type ApplyOptions = Partial<RunOptions> & {
  /** The same as `--allow rdma-start`. */
  readonly allow?: 'rdma-start';
  readonly goal?: Goal;
  /** The last observation, if no node has changed since then. */
  readonly seen?: FleetObservation;
};

/** A simulated rack in this process with a resolved cluster file, and the actions of tests on them. */
export interface ConvergeRack<F extends RunningFleet = Fleet> {
  /** Private to the test; the folder of the cluster file. */
  readonly folder: string;
  readonly fleet: () => F;
  readonly desired: () => DesiredFleet;
  readonly lock: () => ClusterLock;
  /** Reads a different cluster file without using it. */
  readonly preview: (file: FileValue) => Promise<Read>;
  /** Uses a different cluster file from now on. Returns the codes of its errors; then the file stays unchanged. */
  readonly declare: (file: FileValue) => Promise<readonly string[]>;
  /** Changes the lock, as `forget` does. */
  readonly relock: (change: (lock: ClusterLock) => ClusterLock) => void;
  readonly ways: () => readonly NodeTarget[];
  readonly observe: () => Promise<FleetObservation>;
  /** Observes and makes the plan. This must disturb nothing. */
  readonly plan: (goal?: Goal) => Promise<Plan>;
  /** Observes, plans, runs, observes again and plans again. Only listed effects may happen. */
  readonly apply: (options?: ApplyOptions) => Promise<Applied>;
  /** The same as `apply`, but expects that nothing is left to do. */
  readonly converge: (options?: ApplyOptions) => Promise<Applied>;
  /** Runs a script as root on a node, outside of every plan; `$R` is its root. */
  readonly asRoot: (node: string, script: string) => Promise<Ran>;
  /** Receives every command of observations and runs from now on; undefined removes the listener. */
  readonly listen: (listener?: RemoteListener) => void;
  /** Changes nodes outside of a plan. */
  readonly behindOurBack: <T>(act: (fleet: F) => Promise<T>) => Promise<T>;
  /** Stops every Mac and starts it from its disk. */
  readonly restart: () => Promise<void>;
  /** Stops everything. Expects that no Mac received an unknown command. */
  readonly stop: () => Promise<void>;
}

/** Timeout of a test with several applies, in milliseconds. */
export const patience = 180_000;

/** Limits common to runs and observations. */
const limits = { parallel: 16, deadlineMs: 60_000, newBoundary: () => randomBytes(16).toString('hex') };

const allTargets = (fleet: DesiredFleet) => fleet.nodes.map(({ name }) => name);

/** The plan for a whole file. */
export const planFor = (
  desired: DesiredFleet,
  observation: FleetObservation,
  goal: Goal = { kind: 'converge' },
): Plan => makePlan({ goal, desired, observation, targets: allTargets(desired) });

/** The file for a goal: an uninstalled node has no placement. */
const fleetFor = (fleet: DesiredFleet, goal?: Goal): DesiredFleet =>
  goal?.kind === 'uninstall' ? fleetWithout(fleet, goal.nodes).fleet : fleet;

/** The parts of a rack. Its fleet and its file may change. */
interface Parts<F extends RunningFleet = RunningFleet> {
  readonly folder: string;
  readonly start: (desired: DesiredFleet) => Promise<F>;
  fleet: F;
  settled: SettledFleet;
  /** The number of effects already compared with a plan. */
  named: number;
  /** The listener of the last `listen`. */
  onRemote?: RemoteListener | undefined;
}

/** The limits and the listener of an observation or a run of this rack. */
const limitsOf = ({ onRemote }: Parts) => ({ ...limits, ...(onRemote === undefined ? {} : { onRemote }) });

const waysOf = ({ fleet, settled }: Parts): readonly NodeTarget[] =>
  allTargets(settled.fleet).map((name) => wayTo(fleet, name));

/** The effects since the last call. */
function newEffects(parts: Parts): readonly RecordedEffect[] {
  const effects = parts.fleet.effects().slice(parts.named);
  parts.named += effects.length;
  return effects;
}

/** Expects only effects of these steps since the last call. */
const expectNamed = (parts: Parts, seen: FleetObservation, steps: readonly Step[] = []): void =>
  expect(unnamedEffects(newEffects(parts), steps, seen)).toEqual([]);

async function apply(parts: Parts, { goal, seen: shown, allow, ...options }: ApplyOptions = {}): Promise<Applied> {
  const fleet = fleetFor(parts.settled.fleet, goal);
  const desired: DesiredFleet = { ...fleet, ...(allow === undefined ? {} : { mayPassBudget: true }) };
  await keepersAtRest(parts.fleet);
  const ways = options.ways ?? waysOf(parts);
  const seen = shown ?? (await observeFleet(ways, limitsOf(parts)));
  const plan = planFor(desired, seen, goal);
  expectNamed(parts, seen);
  const exitOf = (last: Plan, observation: FleetObservation): number =>
    codeForPlan({
      goal: goal?.kind ?? 'converge',
      plan: last,
      observation,
      fleet: desired,
      targets: targetsForGoal(goal ?? { kind: 'converge' }, allTargets(desired), { desired, observation }),
    });
  if (plan.steps.length === 0) {
    return { looks: { first: seen, last: seen }, plan, after: plan, exit: exitOf(plan, seen) };
  }
  const report = await runPlan(plan, {
    ...limitsOf(parts),
    ways,
    desired,
    verb: 'apply',
    controller: controller(),
    journal: keptJournal(),
    timing: quickTiming,
    leaseWaitMs: 0,
    onEvent: () => undefined,
    ...options,
  });
  expectNamed(parts, seen, [...plan.steps, ...plan.rescues.flatMap((rescue) => rescue.steps)]);
  const later = await observeFleet(ways, limitsOf(parts));
  const after = planFor(desired, later, goal);
  expectNamed(parts, later);
  const lock = withNodes(parts.settled.lock, allTargets(desired));
  parts.settled = { ...parts.settled, lock: withoutFormerNetworks(lock, vacantNetworks(lock, desired, later)) };
  return { looks: { first: seen, last: later }, plan, report, after, exit: exitOf(after, later) };
}

async function converge(parts: Parts, options?: ApplyOptions): Promise<Applied> {
  const applied = await apply(parts, options);
  const failed = applied.report?.steps.filter(({ outcome }) => outcome !== 'changed' && outcome !== 'unchanged');
  expect((failed ?? []).map(({ step, outcome, diagnostics }) => ({ id: step.id, outcome, diagnostics }))).toEqual([]);
  expect(isEmptyPlan(applied.after) ? [] : leftIn(applied.after)).toEqual([]);
  return applied;
}

/** Every `npm run nightly` uses different Macs. */
const otherSeed = process.env['MESHWRIGHT_SEED'] ?? '';

type Starter<F> = (options: StartFleetOptions) => Promise<F>;

async function startParts<F extends RunningFleet>(by: Starter<F>, seed: string, file: FileValue): Promise<Parts<F>> {
  const folder = await mkdtemp(join(tmpdir(), 'mw-converge-'));
  await writeSources(folder);
  await writePublishedSources(folder);
  const read = await readFile(file, emptyLock('cluster.lock'), folder);
  if (read.kind === 'refused') throw new Error(read.codes.join(', '));
  const run = join(folder, 'run');
  const start = async (desired: DesiredFleet): Promise<F> => {
    const model = modelledFleet(desired, `${seed}${otherSeed}`, await readSavedState(run));
    // The interval is so long that no keeper round comes: a round would repair a drift before a plan contains it.
    return by({ folder: run, model, clockFactor: 1 / 100, intervalFactor: 1_000 });
  };
  return { folder, start, fleet: await start(read.settled.fleet), settled: read.settled, named: 0 };
}

/** Starts a rack for a cluster file; by default the example with only two nodes. */
export const startConvergeRack = (seed: string, file?: FileValue): Promise<ConvergeRack> =>
  startConvergeRackBy(startFleet, seed, file);

/** Starts a rack on the host whose starter is `by`. */
export async function startConvergeRackBy<F extends RunningFleet>(
  by: Starter<F>,
  seed: string,
  file: FileValue = pairFile(),
): Promise<ConvergeRack<F>> {
  const parts = await startParts(by, seed, file);
  const { folder } = parts;
  const preview = (wanted: FileValue): Promise<Read> => readFile(wanted, parts.settled.lock, folder);
  return {
    folder,
    fleet: () => parts.fleet,
    desired: () => parts.settled.fleet,
    lock: () => parts.settled.lock,
    preview,
    declare: async (wanted) => {
      const read = await preview(wanted);
      if (read.kind === 'refused') return read.codes;
      parts.settled = read.settled;
      return [];
    },
    relock: (change) => {
      parts.settled = { ...parts.settled, lock: change(parts.settled.lock) };
    },
    ways: () => waysOf(parts),
    observe: () => observeFleet(waysOf(parts), limitsOf(parts)),
    plan: async (goal) => {
      const seen = await observeFleet(waysOf(parts), limitsOf(parts));
      expectNamed(parts, seen);
      return planFor(parts.settled.fleet, seen, goal);
    },
    apply: (options) => apply(parts, options),
    converge: (options) => converge(parts, options),
    asRoot: (node, script) => sh(parts.fleet, node, script),
    listen: (listener) => {
      parts.onRemote = listener;
    },
    behindOurBack: async (act) => {
      try {
        return await act(parts.fleet);
      } finally {
        await keepersAtRest(parts.fleet);
        newEffects(parts);
      }
    },
    restart: async () => {
      await expectKnown(parts.fleet);
      await parts.fleet.stop();
      parts.named = 0;
      parts.fleet = await parts.start(parts.settled.fleet);
    },
    stop: async () => {
      try {
        await expectKnown(parts.fleet);
      } finally {
        await parts.fleet.stop();
        await rm(folder, { recursive: true, force: true });
      }
      await expectNobodyBelow(folder);
    },
  };
}

/** Expects that no Mac received an unknown command. */
const expectKnown = async (fleet: RunningFleet): Promise<void> =>
  expect(Object.values(await fleet.unknown()).flat()).toEqual([]);

/** Everything left to do in a plan, one line each. */
export const leftIn = ({ changes, steps, waiting, blockers }: Plan): readonly string[] => [
  ...changes.map(({ id, from, to }) => `change ${id}: ${from} -> ${to}`),
  ...steps.map(({ id }) => `step ${id}`),
  ...waiting.map(
    ({ node, resource, for: reasons }) => `waiting ${node} ${resource}: ${reasons.map(({ text }) => text).join(', ')}`,
  ),
  ...blockers.map(({ node, code, action }) => `blocker ${node} ${code}: ${plainText(action)}`),
];

/** Ids of the changes of a plan: `studio-1 power/sleep`. */
export const changesIn = ({ changes }: Plan): readonly string[] => changes.map(({ id }) => id);

/** The nodes of the running ranks, sorted. */
export const rankNodes = (rack: ConvergeRack<RunningFleet>): readonly string[] =>
  rack
    .fleet()
    .processes()
    .map(({ node }) => node)
    .sort();

/** Expects that an apply has no steps, takes no lease, and observes each Mac with one connection and one command. */
export async function expectNothingToDo(rack: ConvergeRack<RunningFleet>): Promise<void> {
  const before = rack.fleet().counts();
  const { plan, report } = await rack.apply();
  expect([leftIn(plan), plan.effects, report]).toEqual([[], [], undefined]);
  for (const { name } of rack.desired().nodes) {
    const [was, is] = [before[name], rack.fleet().counts()[name]];
    expect((is?.connections ?? 0) - (was?.connections ?? 0)).toBe(1);
    expect((is?.execs ?? 0) - (was?.execs ?? 0)).toBe(1);
  }
}
