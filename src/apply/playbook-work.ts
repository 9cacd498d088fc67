import { everyNode, nodesToSee } from '../desired/layouts.ts';
import { diagnose } from '../diagnostics/diagnose.ts';
import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import { type Goal, withUndrained } from '../engine/goals/goal.ts';
import { makePlan } from '../engine/plan/make-plan.ts';
import type { Plan } from '../engine/plan/plan.ts';
import { seenProperties } from '../engine/plan/properties.ts';
import type { Work } from '../engine/playbooks/expand.ts';
import type { DesiredFleet } from '../model/desired.ts';
import { canonicalJson, type Json } from '../model/digest.ts';
import type { NodeName } from '../model/node.ts';
import { nodeSubject } from '../model/subject.ts';
import { named, prose } from '../model/text/prose.ts';
import type { FleetObservation } from '../rack/examination.ts';
import { whereTheyRanLast } from '../rack/placement/state/layouts.ts';
import { propertyKey } from '../rack/resource.ts';
import type { OpenRun } from './open-run.ts';
import type { PlaybookOptions, PlaybookPlace, ShownPlan } from './playbook-report.ts';
import type { LeaseRefusal, RunReport } from './run-report.ts';
import { pause, timeFor } from './run-timing.ts';

/** What a task may use. */
interface WorkTools {
  readonly place: PlaybookPlace;
  readonly options: PlaybookOptions;
  readonly look: (nodes: readonly NodeName[]) => Promise<FleetObservation>;
  /** What was seen may not hold any more. */
  readonly forget: () => void;
  readonly takeFirst: () => ShownPlan | undefined;
  readonly run: () => OpenRun;
}

/** What one task came to. */
export interface DoneWork {
  readonly plan?: Plan;
  readonly observation?: FleetObservation;
  readonly run?: RunReport;
  readonly failed?: readonly NodeName[];
  readonly refusals?: readonly LeaseRefusal[];
  readonly diagnostics?: readonly Diagnostic[];
  readonly isDeclined?: boolean;
  /** Nothing may come after it: a lease was refused or lost. */
  readonly isEnd?: boolean;
}

/** Does what a task came to. */
export function carryOut(work: Work, tools: WorkTools): Promise<DoneWork> {
  switch (work.kind) {
    case 'plan':
      return planAndRun(work, tools);
    case 'verify':
      return verify(work.targets, tools);
    case 'wait':
      return waitFor(work, tools);
    case 'assert':
      return assertProperty(work, tools);
    case 'confirm':
      return confirm(work.text, tools);
    case 'run':
      return runOwn(work, tools);
  }
}

async function planFor(goal: Goal, targets: readonly NodeName[], tools: WorkTools): Promise<Required<ShownPlan>> {
  const { desired } = tools.options.scope;
  const observation = await tools.look(targets);
  return { plan: makePlan({ goal, desired, observation, targets }), observation };
}

/**
 * A plan that others have overtaken is made and shown again. By then its leases are held, so that this ends. One that
 * has only taken a change of the network back is followed by the plan for what is there now.
 */
async function planAndRun(work: Extract<Work, { kind: 'plan' }>, tools: WorkTools): Promise<DoneWork> {
  let done = await planAndRunOnce(work, tools, tools.takeFirst());
  while (done.run?.isStale === true) done = await planAndRunOnce(work, tools, undefined);
  return hasSettled(done) ? joined(done, await planAndRunOnce(work, tools, undefined)) : done;
}

/** Whether changes of the network were taken back, all that the plan had found. */
function hasSettled(done: DoneWork): done is SettledWork {
  const settling = (done.run?.steps ?? []).filter(({ step }) => step.resource === 'rollback');
  const isSettled = settling.every(({ outcome }) => outcome === 'changed' || outcome === 'unchanged');
  return settling.length > 0 && isSettled && done.isEnd !== true;
}

type SettledWork = DoneWork & { readonly plan: Plan; readonly run: RunReport };

/** What was done before a task went on belongs to it, too. */
function joined({ plan: earlier, run: before }: SettledWork, done: DoneWork): DoneWork {
  const { plan = earlier, run = { ...before, steps: [], diagnostics: [] } } = done;
  return {
    ...done,
    plan: {
      ...plan,
      changes: [...earlier.changes, ...plan.changes],
      steps: [...earlier.steps, ...plan.steps],
    },
    run: {
      ...run,
      steps: [...before.steps, ...run.steps],
      diagnostics: [...before.diagnostics, ...run.diagnostics],
    },
  };
}

/** Of a plan that was saved nobody knows any more what was seen. */
const unseen: FleetObservation = { nodes: {}, failures: {} };

async function planAndRunOnce(
  { goal, targets }: Extract<Work, { kind: 'plan' }>,
  tools: WorkTools,
  first: ShownPlan | undefined,
): Promise<DoneWork> {
  const { options, place } = tools;
  const shown = first ?? (await planFor(goal, targets, tools));
  if (options.signal?.aborted === true) return shown;
  const { plan } = shown;
  const { desired } = options.scope;
  const fleet = { fleet: desired, seen: shown.observation ?? unseen, observed: plan.observed };
  const kept = [...keptBack(plan), ...unreachedOf(goal, plan)];
  const blocked = goal.kind === 'converge' ? [] : withUndrained(kept, goal, fleet);
  if (plan.steps.every(({ act }) => act.kind === 'hands')) return { ...shown, failed: blocked };
  const isApproved = first !== undefined || (await options.approve(plan, place));
  if (!isApproved) return { ...shown, isDeclined: true };
  tools.forget();
  const observed = canonicalJson(jsonOf(plan.observed));
  const run = await tools.run().run(plan, {
    nodes: nodesToSee(desired, targets).map(({ name }) => name),
    isStale: (observation) =>
      canonicalJson(jsonOf(makePlan({ goal, desired, observation, targets }).observed)) !== observed,
  });
  const failed = [...withUndrained(failedNodes(plan, run), goal, fleet), ...blocked];
  return { ...shown, run, failed: [...new Set(failed)], isEnd: isEnd(run) };
}

const jsonOf = (observed: Plan['observed']): Json =>
  Object.fromEntries(Object.entries(observed).map(([node, { bootSession, hash }]) => [node, { bootSession, hash }]));

/** A verb that acts on a node has failed there when something keeps it from acting. */
const keptBack = ({ waiting, blockers }: Plan): readonly NodeName[] => [
  ...waiting.map(({ node }) => node),
  ...blockers.flatMap(({ node, peers }) => [node, ...peers]),
];

/** A Mac that is to be restarted and was not reached: nothing may wait for it to come back. */
const unreachedOf = (goal: Goal, { observed }: Plan): readonly NodeName[] =>
  goal.kind === 'reboot' || goal.kind === 'shutdown' ? goal.nodes.filter((node) => !Object.hasOwn(observed, node)) : [];

const isEnd = ({ refusals, isLeaseLost, isInterrupted }: RunReport): boolean =>
  refusals.length > 0 || isLeaseLost || isInterrupted;

/** Nodes of steps that did not do their work, and of everything that such a step is about. */
function failedNodes({ steps }: Plan, run: RunReport): readonly NodeName[] {
  const own = new Set(steps.map(({ id }) => id));
  const bad = run.steps.filter(
    ({ step, outcome }) =>
      own.has(step.id) && step.act.kind !== 'hands' && outcome !== 'changed' && outcome !== 'unchanged',
  );
  return [...new Set(bad.flatMap(({ step }) => [step.node, ...step.peers]))];
}

/** A second plan must be empty. What only hands can do, or what nobody could see, is no contradiction. */
async function verify(targets: readonly NodeName[], tools: WorkTools): Promise<DoneWork> {
  const shown = await planFor({ kind: 'converge' }, targets, tools);
  const diagnostics = shown.plan.changes.map(({ resource, node, from, to }) =>
    diagnose('task/still-different', {
      subject: nodeSubject(node),
      detail: prose`${resource} on ${named(node)}: ${from}, and it is to be: ${to}.`,
    }),
  );
  return { ...shown, diagnostics, failed: [...new Set(shown.plan.changes.map(({ node }) => node))] };
}

async function assertProperty(work: Extract<Work, { kind: 'assert' }>, tools: WorkTools): Promise<DoneWork> {
  const { property, is, says, nodes } = work;
  const observation = await tools.look(nodes);
  const seen = seenProperties(tools.options.scope.desired, observation);
  const found = nodes.flatMap((node) => {
    const value = seen.get(propertyKey({ node, address: property }));
    return value === undefined ? [] : [{ node, value }];
  });
  const wrong = found.filter(
    ({ value }) => value.kind === 'unknown' || canonicalJson(value.value) !== canonicalJson(is),
  );
  const told = (node: NodeName, what: string): Diagnostic =>
    diagnose('task/assert-failed', {
      subject: nodeSubject(node),
      detail: prose`${says === undefined ? '' : `${says} `}${property} on ${named(node)} is to be ${canonicalJson(is)}: ${what}.`,
    });
  if (found.length === 0) {
    return { observation, failed: nodes, diagnostics: nodes.map((node) => told(node, 'it has no such property')) };
  }
  const diagnostics = wrong.map(({ node, value }) =>
    told(node, value.kind === 'known' ? `it is ${canonicalJson(value.value)}` : `unknown, ${value.detail}`),
  );
  return { observation, failed: wrong.map(({ node }) => node), diagnostics };
}

async function confirm(text: string, { options, place, forget }: WorkTools): Promise<DoneWork> {
  // Whoever is asked may take an hour.
  forget();
  return { isDeclined: !(await options.confirm(text, place)) };
}

async function runOwn(work: Extract<Work, { kind: 'run' }>, tools: WorkTools): Promise<DoneWork> {
  tools.forget();
  const { timing } = tools.options;
  const { failed, refusals, diagnostics, isInterrupted, isLeaseLost } = await tools
    .run()
    .command(work.commands, timeFor(work.deadlineMs, timing, 30_000));
  return { failed, refusals, diagnostics, isEnd: refusals.length > 0 || isLeaseLost || isInterrupted };
}

type WaitWork = Extract<Work, { kind: 'wait' }>;

/** What is not there yet, and the nodes for which that is a failure. */
interface Missing {
  readonly node: NodeName;
  readonly why: string;
  readonly fails: readonly NodeName[];
}

/** Looks afresh, again and again, until all of it is there or the deadline is over; empty when it was broken off. */
export async function waitFor(
  work: WaitWork,
  {
    options,
    forget,
  }: Pick<WorkTools, 'forget'> & {
    readonly options: Pick<PlaybookOptions, 'timing' | 'signal' | 'scope' | 'observe' | 'onWait'>;
  },
): Promise<DoneWork> {
  const { timing, signal, scope } = options;
  const endMs = performance.now() + timeFor(work.deadlineMs, timing, 10_000);
  forget();
  while (signal?.aborted !== true) {
    const observation = await options.observe(work.nodes);
    const missing = missingIn(observation, work, scope.desired);
    if (missing.length === 0) return { observation };
    if (performance.now() >= endMs) {
      const failed = [...new Set(missing.flatMap(({ fails }) => fails))];
      return { observation, failed, diagnostics: missing.map((one) => waitOver(one, work.deadlineMs)) };
    }
    const texts = missing.map(({ node, why }) => `${node} (${why.replace(/\.$/, '')})`);
    options.onWait?.(texts, endMs - performance.now());
    await pause(timing.gatePollMs, signal);
  }
  return {};
}

function missingIn(observation: FleetObservation, work: WaitWork, desired: DesiredFleet): readonly Missing[] {
  const unseen = work.nodes.flatMap((node): readonly Missing[] => {
    const [problem] = observation.failures[node] ?? [];
    return problem === undefined ? [] : [{ node, why: problem.summary, fails: [node] }];
  });
  if (work.for === 'observed') return unseen;
  const meant = whereTheyRanLast(desired, observation.nodes).placements;
  const lacking = meant
    .filter(({ name }) => work.placements.includes(name))
    .map(({ name, ...placement }) => {
      const goal = { kind: 'start', placements: [name] } as const;
      const { changes, waiting } = makePlan({ goal, desired, observation, targets: work.nodes });
      // It serves nobody of those that may carry it: a batch may have any of them alone.
      const fails = everyNode(placement);
      const missing = [
        ...changes.map(({ node, resource, from }): Missing => ({ node, why: `${resource}: ${from}`, fails })),
        ...waiting.map(
          ({ node, resource, for: reasons }): Missing => ({
            node,
            why: `${resource}: ${reasons.map(({ text }) => text).join(', ')}`,
            fails,
          }),
        ),
      ];
      return { nodes: placement.nodes, missing };
    })
    .filter(({ missing }) => missing.length > 0);
  // Nodes that only another layout has keep nothing from serving where it is meant to.
  const away = unseen.filter(({ node }) => lacking.some(({ nodes }) => nodes.includes(node)));
  return [...lacking.flatMap(({ missing }) => missing), ...away];
}

const waitOver = ({ node, why }: Missing, deadlineMs: number): Diagnostic =>
  diagnose('task/wait-over', {
    subject: nodeSubject(node),
    detail: prose`${named(node)}, after ${Math.round(deadlineMs / 1_000)} s: ${why}`,
  });
