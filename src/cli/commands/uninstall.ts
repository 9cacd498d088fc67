import type { PlaybookReport } from '../../apply/playbook-report.ts';
import { listText } from '../../desired/did-you-mean.ts';
import type { FleetObservation } from '../../doctor/fleet-observation.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import type { NodeName } from '../../model/node.ts';
import { fleetWithout } from '../../plan/fleet-without.ts';
import type { Goal } from '../../plan/goal.ts';
import { makePlan } from '../../plan/make-plan.ts';
import type { Playbook } from '../../playbooks/playbook.ts';
import { hasMachineSteps } from '../../report/plan-text.ts';
import { changeNodes } from '../change-nodes.ts';
import { type Consent, createConsent } from '../consent.ts';
import type { ExitCode } from '../exit-codes.ts';
import { type LookedPlan, lookAndPlan } from '../look-and-plan.ts';
import { targetedNodes } from '../open-cluster.ts';
import type { RunOutcome } from '../run-outcome.ts';
import { type SettledCluster, settleFromLock } from '../settle-cluster.ts';
import { showOutcome } from '../show-outcome.ts';
import { showPlan } from '../show-plan.ts';
import { exitOfSignal } from '../signals.ts';
import { simulatedPlan, simulatedText } from '../simulated-hints.ts';
import { namedTargets } from '../targets.ts';
import type { Run, VerbBody } from '../verb.ts';
import { openWays, type Ways } from '../ways.ts';

type UninstallGoal = Extract<Goal, { kind: 'uninstall' }>;

/** What all parts of one uninstallation share. */
interface Uninstallation {
  readonly cluster: SettledCluster;
  readonly ways: Ways;
  /** Without what was placed on the nodes. */
  readonly fleet: DesiredFleet;
  readonly goal: UninstallGoal;
  /** The nodes, and those on which something is stopped with them. */
  readonly targets: readonly NodeName[];
  readonly consent: Consent;
}

/** `uninstall NODE…|--all`: takes everything of us off nodes, and the way in at last. */
export const uninstall: VerbBody = async (run) => {
  const about = uninstallationOf(run);
  const { fleet, ways, goal, targets } = about;
  const looked = await lookAndPlan(run, { fleet, ways, goal, targets });
  show(run, about, looked);
  const outcome = await carryOut(run, about, looked);
  return end(run, about, outcome);
};

function uninstallationOf(run: Run): Uninstallation {
  const cluster = settleFromLock(run);
  const nodes = targetedNodes(run, cluster.fleet, namedTargets(run, cluster.fleet)).map(({ name }) => name);
  const { fleet, placements } = fleetWithout(cluster.fleet, nodes);
  const reaching = fleet.placements.filter(({ name }) => placements.includes(name)).flatMap((one) => one.nodes);
  const models = run.own['models'] === true;
  return {
    cluster,
    fleet,
    ways: openWays(run, cluster.opened),
    goal: { kind: 'uninstall', nodes, placements, restore: run.own['restore'] === true, models },
    targets: fleet.nodes.map(({ name }) => name).filter((name) => [...nodes, ...reaching].includes(name)),
    consent: createConsent(run, {
      // Whoever takes a node out wants what runs there stopped; models go where that was said.
      named: ['interrupt', ...(models ? (['delete'] as const) : [])],
      allowable: [],
      isAgreed: run.options.yes === true,
    }),
  };
}

function show(run: Run, { cluster, ways, goal }: Uninstallation, { plan }: Pick<LookedPlan, 'plan'>): void {
  const lock = { shown: cluster.lockPlace.shown, additions: [] };
  const nothing = `Nothing of meshwright is left on ${listText(goal.nodes)}.`;
  showPlan(run, plan, { isSimulated: ways.isSimulated, lock, budgets: undefined, next: [], nothing });
}

const questionFor = ({ nodes }: UninstallGoal): string => `Take meshwright off ${listText(nodes)} as shown above?`;

const playbookFor = (goal: UninstallGoal): Playbook => ({
  name: 'uninstall',
  plays: [
    {
      nodes: { kind: 'targets' },
      serial: [],
      maxFailures: 0,
      tasks: [goal],
    },
  ],
});

const nothingRun = (nodes: readonly NodeName[], isDeclined: boolean): PlaybookReport => ({
  works: [],
  nodes,
  isStopped: false,
  isDeclined,
  isInterrupted: false,
});

async function carryOut(run: Run, about: Uninstallation, looked: LookedPlan): Promise<RunOutcome> {
  const { fleet, ways, goal, targets, consent } = about;
  const { plan } = looked;
  const judged = { goal: goal.kind, fleet, targets: goal.nodes };
  const hasWork = hasMachineSteps(plan);
  if (!hasWork || !(await consent.give(plan, questionFor(goal)))) {
    const report = nothingRun(goal.nodes, hasWork);
    return { targets: goal.nodes, report, refusal: [], last: { ...judged, ...looked } };
  }
  const { report, refusal } = await changeNodes(run, {
    verb: 'uninstall',
    playbook: playbookFor(goal),
    scope: { desired: fleet, targets },
    ways,
    consent,
    show: (next) => show(run, about, { plan: next }),
    apart: () => {
      if (!run.options.json) run.console.out('\n');
    },
    question: () => questionFor(goal),
    first: looked,
  });
  return seenOutcome(about, report, refusal);
}

/** What the last look tells; who refuses the login after the way in was taken away has nothing of us any more. */
function seenOutcome(
  { fleet, goal, targets, ways }: Uninstallation,
  report: PlaybookReport,
  refusal: RunOutcome['refusal'],
): RunOutcome {
  const { observation } = report;
  if (observation === undefined) return { targets: goal.nodes, report, refusal };
  const gone = goneNodes(report, observation);
  const isThere = (name: NodeName): boolean => !gone.includes(name);
  const seen = without(observation, gone);
  const plan = makePlan({ goal, desired: fleet, observation: seen, targets: targets.filter(isThere) });
  const judged = goal.nodes.filter(isThere);
  return {
    targets: judged,
    report,
    refusal,
    last: {
      goal: goal.kind,
      plan: ways.isSimulated ? simulatedPlan(plan) : plan,
      observation: seen,
      fleet,
      targets: judged,
    },
  };
}

/** Nodes whose way in was taken away, and that let nobody in any more. */
export function goneNodes(
  { works }: Pick<PlaybookReport, 'works'>,
  { failures }: FleetObservation,
): readonly NodeName[] {
  const steps = works.flatMap(({ run }) => run?.steps ?? []);
  const withdrawn = steps.filter(
    ({ step: { act }, outcome }) =>
      act.kind === 'script' && act.name === 'withdraw-node' && (outcome === 'changed' || outcome === 'unknown'),
  );
  return withdrawn
    .map(({ step }) => step.node)
    .filter((node) => failures[node]?.some(({ code }) => code === 'ssh/authentication-failed') === true);
}

const without = ({ nodes, failures }: FleetObservation, gone: readonly NodeName[]): FleetObservation => {
  const kept = <T>(record: Readonly<Record<string, T>>): Record<string, T> =>
    Object.fromEntries(Object.entries(record).filter(([name]) => !gone.some((one) => one === name)));
  return { nodes: kept(nodes), failures: kept(failures) };
};

function end(run: Run, { cluster, ways, goal, fleet }: Uninstallation, outcome: RunOutcome): ExitCode {
  const interruptedBy = exitOfSignal(run.signal);
  const { report, last, targets } = outcome;
  const gone = goal.nodes.filter((name) => !targets.includes(name));
  const clean = targets.filter((name) => last !== undefined && isClean(name, last.plan));
  const done = [...gone, ...clean].toSorted();
  const told = report.works.length === 0 ? [] : closingLines(done, gone, cluster);
  return showOutcome(
    run,
    { ...outcome, ...(interruptedBy === undefined ? {} : { interruptedBy }) },
    {
      cluster: fleet.name,
      verb: 'uninstall',
      isSimulated: ways.isSimulated,
      lock: { path: cluster.lockPlace.path, written: false, additions: [] },
      closing: ways.isSimulated ? told.map(simulatedText) : told,
    },
  );
}

const isClean = (name: NodeName, { observed, changes, waiting }: LookedPlan['plan']): boolean =>
  Object.hasOwn(observed, name) && ![...changes, ...waiting].some(({ node }) => node === name);

function closingLines(
  done: readonly NodeName[],
  gone: readonly NodeName[],
  { opened }: SettledCluster,
): readonly string[] {
  if (done.length === 0) return [];
  const names = done.join(' ');
  return [
    ...(gone.length === 0 ? [] : [`${listText(gone)} let nobody in any more: the key of enroll was the way in.`]),
    `Take ${listText(done)} out of ${opened.path.split('/').at(-1)}, and then out of its lock:`,
    `  meshwright forget ${names}`,
  ];
}
