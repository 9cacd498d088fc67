import { pause } from '../../apply/run-timing.ts';
import { waitFor } from '../../apply/wait-tasks.ts';
import { type Diagnostic, FleetError } from '../../diagnostics/diagnostic.ts';
import { type Cure, mayBeBusy, type SeenTroubles, silentPlacements } from '../../engine/diagnose/next-cure.ts';
import { inFleetOrder } from '../../engine/playbooks/expand.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import type { DoctorDocument } from '../../model/documents.generated.ts';
import { given } from '../../model/given.ts';
import type { NodeName } from '../../model/node.ts';
import type { FleetObservation } from '../../rack/examination.ts';
import type { Goal } from '../../rack/goal.ts';
import { longestQuietMs } from '../../rack/placement/mesh/read-mesh.ts';
import type { ResourceKind } from '../../rack/resource-kind.ts';
import { settleFromLock } from '../cluster/settle-cluster.ts';
import { openTargets } from '../cluster/ssh-targets.ts';
import { codeFor, type ExitCode, exitCode, firstOf } from '../exit-codes.ts';
import { cables } from '../look/cables.ts';
import { observeNodes } from '../look/observe-fleet.ts';
import { createConsent } from '../plan/consent.ts';
import { type Ended, showWait } from '../terminal/console.ts';
import { timingFor } from '../use-limits.ts';
import type { Run } from '../verb.ts';
import { actOn, type SeenCluster } from './act-on.ts';
import { actOnMacs, actOnPlacements } from './act-verbs.ts';
import { reaching } from './final-check.ts';
import { powerCycle } from './power-cycle.ts';
import type { EndedRun } from './run-outcome.ts';

/** What `recover` knows before a cure. */
export interface Measured extends SeenTroubles {
  /** As `doctor --json` prints it. */
  readonly document: DoctorDocument;
  readonly desired: DesiredFleet;
  /** With the settings with which its placements were last started, as far as they are known. */
  readonly started: DesiredFleet;
  /** By `performance.now()`. */
  readonly atMs: number;
}

/** A measurement this recent is not repeated before a cure, because a hung placement takes its whole deadline. */
const freshMs = 30_000;

/** What the rung `network` may change; nothing else in the file is applied. */
const networkKinds: readonly ResourceKind[] = [
  ...(['transaction', 'foreign-daemon', 'thunderbolt-bridge', 'thunderbolt-link', 'link-address'] as const),
  ...(['service-order', 'wired-limit', 'keeper'] as const),
];

/** The time in which a Mac comes back by itself, for example after a kernel panic. */
const returnMs = 600_000;

/** Between two looks at a placement that may be busy. */
const busyPollMs = 10_000;

export interface CureResult {
  readonly exit: number;
  readonly problems: readonly Diagnostic[];
  /** False if it only waited, or if nothing was left to do, as after another run's cure. */
  readonly hasChanged: boolean;
  /** Its final check, with tokens. */
  readonly observation?: FleetObservation;
}

/** What a cure needs: the last measurement, and a way to measure again while it waits. */
interface CureContext {
  readonly seen: Measured;
  readonly names: readonly string[];
  readonly measure: () => Promise<Measured>;
}

/** Runs one cure without showing its plan. Its own final check decides whether it worked. */
export async function runCure(run: Run, cure: Cure, context: CureContext): Promise<CureResult> {
  const own: Run = { ...run, words: cure.names, own: {}, options: { ...run.options, yes: true, json: true } };
  try {
    const ended = await bodyOf(cure, context, run)(own);
    if (typeof ended === 'number') return { exit: ended, problems: [], hasChanged: cure.rung !== 'wait' };
    const problems = ended.exit === exitCode.done ? [] : (ended.problems ?? []);
    const { document } = ended;
    const steps = 'steps' in document && 'counts' in document ? document.steps : undefined;
    const hasChanged = steps?.some(({ outcome }) => outcome === 'changed') ?? true;
    const observation = 'outcome' in ended ? ended.outcome.report.observation : undefined;
    return { exit: ended.exit ?? exitCode.done, problems, hasChanged, ...given({ observation }) };
  } catch (error) {
    if (!(error instanceof FleetError)) throw error;
    return { exit: firstOf(error.diagnostics.map(codeFor)), problems: error.diagnostics, hasChanged: false };
  }
}

function bodyOf(
  { rung, names }: Cure,
  { seen, names: all, measure }: CureContext,
  outer: Run,
): (run: Run) => Promise<number | Ended | EndedRun> {
  const { desired } = seen;
  const targets = desired.nodes.map(({ name }) => name).filter((name) => names.some((one) => one === name));
  switch (rung) {
    case 'wait':
      return targets.length > 0
        ? (run) => waitForReturn(run, targets, desired)
        : (run) => waitForClients(run, names, measure);
    case 'continue':
      return (run) => reach(run, seen, { kind: 'continue', placements: names }, membersOf(seen, all));
    case 'network':
      return (run) => reach(run, seen, { kind: 'converge', only: networkKinds }, targets);
    case 'measure':
      return async (run) => {
        const ended = await cables({ ...run, words: [], own: { measure: true } });
        // Dead cables end it like a failed command, but then it has done its work.
        const problems = typeof ended === 'number' ? [] : (ended.problems ?? []);
        return problems.length === 0 ? exitCode.done : ended;
      };
    // A placement that serves behind a closed gateway is not started again; its gateway is opened.
    case 'gateway':
    case 'instance':
    case 'start':
      return (run) => actOnPlacements(run, 'start', [], clusterOf(run, seen));
    case 'stop':
    case 'restart':
      return (run) => actOnPlacements(run, rung, ['interrupt'], clusterOf(run, seen));
    case 'reboot':
      return (run) => actOnMacs(run, rung, clusterOf(run, seen));
    case 'power-cycle':
      // Its question about the file's programs may be asked at the terminal.
      return () =>
        powerCycle(outer, {
          desired,
          nodes: targets,
          awaitReturn: async (nodes) => (await waitForReturn(outer, nodes, desired)) === exitCode.done,
        });
  }
}

/** The file with the settings with which its placements were last started: nothing newer in the file is applied. */
function clusterOf(run: Run, { started, atMs, observation }: Measured): SeenCluster {
  const cluster = settleFromLock(run);
  const placements = cluster.fleet.placements.map(
    (one) => started.placements.find(({ name }) => name === one.name) ?? one,
  );
  const seen = performance.now() - atMs < freshMs ? observation : undefined;
  return { ...cluster, fleet: { ...cluster.fleet, placements }, ...given({ seen }) };
}

/** The Macs of the placements that do not serve. */
export const membersOf = (seen: Measured, names: readonly string[]): readonly NodeName[] =>
  inFleetOrder(
    silentPlacements(seen, names).flatMap(({ nodes }) => nodes),
    seen,
  );

function reach(run: Run, seen: Measured, goal: Goal, targets: readonly NodeName[]): Promise<EndedRun> {
  const cluster = clusterOf(run, seen);
  const consent = createConsent(run, { named: ['interrupt'] });
  const scope = { desired: cluster.fleet, targets };
  return actOn(run, { verb: 'recover', ...reaching(goal, scope), consent }, cluster);
}

async function waitForReturn(run: Run, nodes: readonly NodeName[], desired: DesiredFleet): Promise<ExitCode> {
  const timing = timingFor(run);
  const wait = showWait(run.console);
  const ways = openTargets(run, settleFromLock(run).opened);
  const work = { kind: 'wait', for: 'observed', nodes, placements: [], deadlineMs: returnMs } as const;
  const observe = () =>
    observeNodes(
      run,
      desired.nodes.filter(({ name }) => nodes.includes(name)),
      ways,
      {},
    );
  const scope = { desired, targets: nodes };
  const { failed = [] } = await waitFor(work, { timing, signal: run.signal, scope, observe, onWait: wait.show });
  wait.end();
  return failed.length === 0 ? exitCode.done : exitCode.failed;
}

/** Waits until a token comes, or until the requests in flight have been quiet for longer than any prompt takes. */
async function waitForClients(run: Run, names: readonly string[], measure: () => Promise<Measured>): Promise<ExitCode> {
  const wait = showWait(run.console);
  const { scale } = timingFor(run);
  const endMs = performance.now() + longestQuietMs * scale;
  while (!run.signal.aborted && performance.now() < endMs) {
    wait.show(
      names.map((name) => `the requests in flight of ${name}`),
      endMs - performance.now(),
    );
    await pause(busyPollMs * scale, run.signal);
    const seen = await measure();
    const silent = silentPlacements(seen, names);
    if (!silent.some((one) => mayBeBusy(one, seen))) {
      wait.end();
      return silent.length === 0 ? exitCode.done : exitCode.failed;
    }
  }
  wait.end();
  return exitCode.failed;
}
