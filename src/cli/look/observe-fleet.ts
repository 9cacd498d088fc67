import { randomBytes } from 'node:crypto';
import { type ObserveOptions, observeFleet } from '../../apply/reach/observe.ts';
import { type CommandFor, type CommandOutcome, runCommand, type UseLimits } from '../../apply/reach/session.ts';
import { linkText } from '../../desired/addresses.ts';
import { nodesToSee } from '../../desired/layouts.ts';
import { settleLinks, withGivenNetworks } from '../../desired/settle/settle-links.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import type { Goal } from '../../engine/goals/scope.ts';
import { makePlan } from '../../engine/plan/make-plan.ts';
import type { Plan } from '../../engine/plan/plan.ts';
import { viewOf } from '../../engine/plan/view.ts';
import type { DesiredFleet, DesiredNode } from '../../model/desired.ts';
import type { Link, NodeName } from '../../model/node.ts';
import { isSuccess } from '../../model/probe.ts';
import { areNetworksSeen, officeNetworks } from '../../rack/addresses/rule.ts';
import type { FleetObservation } from '../../rack/examination.ts';
import { launchBudgets, type NodeBudget } from '../../rack/placement/placement-blockers.ts';
import { diagnoseExit } from '../../remote/remote.ts';
import type { SettledCluster } from '../cluster/settle-cluster.ts';
import type { Ways } from '../cluster/ways.ts';
import { type NodeVerdict, verdictOf } from '../exit-codes.ts';
import { withProgress } from '../terminal/console.ts';
import { useLimits } from '../use-limits.ts';
import type { Run } from '../verb.ts';

/** Of the answer of one node; what these commands print is short. */
const maxBytes = 4_194_304;

/** Runs one short command on nodes that only reads there, with progress on the error stream when it takes long. */
export function askNodes(
  run: Run,
  { nodes, ways }: { readonly nodes: readonly DesiredNode[]; readonly ways: Ways },
  command: CommandFor,
): Promise<readonly CommandOutcome[]> {
  const options = { ...useLimits(run), parallel: run.options.parallel, maxBytes };
  return withProgress(run.console, ['asking', nodes], async (done) =>
    runCommand(await ways.toAll(nodes), command, { ...options, onOutcome: ({ node }) => done(node) }),
  );
}

type Ended = Extract<CommandOutcome, { readonly kind: 'ended' }>;

/** Whether the command ended with 0 on its node. */
export const isAnswered = (outcome: CommandOutcome): outcome is Ended =>
  outcome.kind === 'ended' && isSuccess(outcome.result.exit);

/** What the command printed, as UTF-8. */
export const answerText = ({ result }: Ended): string => new TextDecoder().decode(result.stdout);

/** Why a node was not reached, or why nobody knows how the command ended there. */
export function outcomeDiagnostics(outcome: CommandOutcome): readonly Diagnostic[] {
  if (outcome.kind === 'unreached') return outcome.diagnostics;
  const broken = diagnoseExit(outcome.node, outcome.result.exit);
  return broken === undefined ? [] : [broken];
}

/** A node whose answer did not come is unjudged; one that waits for its FileVault password needs hands. */
export function outcomeVerdict(outcome: CommandOutcome): NodeVerdict {
  if (outcome.kind === 'unreached') return verdictOf(outcome.diagnostics);
  return isAnswered(outcome) ? 'fine' : 'unjudged';
}

/** What of an observation differs from verb to verb. */
type ObserveExtent = Pick<ObserveOptions, 'facts' | 'firstByteMs' | 'tokensOf' | 'onSeen'>;

/** How long a Mac may be silent at first for a verb that only shows, unless its deadline was raised. */
const silentMs = 4_000;
const usualDeadlineMs = 30_000;

/**
 * The bound of a connection for a verb that only shows: a Mac that is off is named after 4 s. A `--deadline` above the
 * usual one holds for connecting as well. Verbs that change a Mac have more patience with it.
 */
export const shownOnly = ({ options: { deadline } }: Run): Pick<ObserveExtent, 'firstByteMs'> =>
  deadline > usualDeadlineMs ? {} : { firstByteMs: silentMs };

/** Observes the given nodes, with progress on the error stream when it takes long. */
export function observeNodes(
  run: Run,
  nodes: readonly DesiredNode[],
  ways: Ways,
  extent: ObserveExtent = {},
): Promise<FleetObservation> {
  return withProgress(run.console, ['observing', nodes], async (onNode) =>
    observeFleet(await ways.toAll(nodes), { ...observeLimits(run), ...extent, onNode }),
  );
}

/** What every observation of this run has. */
export const observeLimits = (run: Run): Pick<ObserveOptions, keyof UseLimits | 'parallel' | 'newToken'> => ({
  ...useLimits(run),
  parallel: run.options.parallel,
  newToken: () => randomBytes(16).toString('hex'),
});

/**
 * The same cluster, whose links that have no network in the lock yet get none that a node sees in use; one with an end
 * at which that could not be seen gets none yet, and none of them does where the pool has too little left beside what is
 * in use: then the plan says what is in the way. The very same where there is nothing to go around and all was seen.
 */
export function settleAround(cluster: SettledCluster, observation: FleetObservation): SettledCluster {
  return withoutUnseen(settleBeside(cluster, observation), observation);
}

function settleBeside(cluster: SettledCluster, observation: FleetObservation): SettledCluster {
  const { fleet, before, lock, additions } = cluster;
  const taken = fleet.nodes.flatMap(({ name }) => {
    const facts = observation.nodes[name]?.facts;
    return facts === undefined ? [] : officeNetworks(facts).map(({ network }) => network);
  });
  const straight = settleLinks(fleet.thunderbolt, before);
  const around = settleLinks(fleet.thunderbolt, before, taken);
  const isSame = JSON.stringify(around.links) === JSON.stringify(straight.links);
  if (isSame) return cluster;
  if (around.diagnostics.length > straight.diagnostics.length) return withoutNew(cluster, newLinks(cluster));
  return {
    ...cluster,
    fleet: { ...fleet, thunderbolt: around.thunderbolt },
    lock: { ...lock, links: around.links, formerNetworks: around.formerNetworks },
    additions: [...around.additions, ...additions.filter((line) => !straight.additions.includes(line))],
  };
}

/** The links that have a network which the lock does not have yet. */
function newLinks({ fleet, before }: SettledCluster): DesiredFleet['thunderbolt']['links'] {
  const given = withGivenNetworks(fleet.thunderbolt, before).networks;
  return fleet.thunderbolt.links.filter(
    ({ index }) => fleet.thunderbolt.networks[index] !== undefined && given[index] === undefined,
  );
}

/** Takes back what links were given anew at whose ends it may be in use: what is given out never moves. */
function withoutUnseen(cluster: SettledCluster, observation: FleetObservation): SettledCluster {
  const isUnseen = (node: NodeName): boolean => {
    const facts = observation.nodes[node]?.facts;
    return facts === undefined || !areNetworksSeen(facts);
  };
  const unseenOf = ({ ends }: Link): readonly NodeName[] => [...new Set(ends.map(({ node }) => node))].filter(isUnseen);
  const links = newLinks(cluster).filter((link) => unseenOf(link).length > 0);
  if (links.length === 0) return cluster;
  const { fleet, ...rest } = withoutNew(cluster, links);
  const waiting = Object.fromEntries(links.map((link) => [link.index, unseenOf(link)]));
  return { ...rest, fleet: { ...fleet, thunderbolt: { ...fleet.thunderbolt, waiting } } };
}

/** The same cluster, in which these links, which are new, have no network, and the lock has what it had of them before. */
function withoutNew(cluster: SettledCluster, links: DesiredFleet['thunderbolt']['links']): SettledCluster {
  const { fleet, before, lock, additions } = cluster;
  const names = links.map(({ ends }) => linkText(ends));
  const indexes = links.map(({ index }) => String(index));
  const networks = Object.entries(fleet.thunderbolt.networks).filter(([index]) => !indexes.includes(index));
  const thunderbolt = { ...fleet.thunderbolt, networks: Object.fromEntries(networks) };
  const former = Object.entries(before.formerNetworks).filter(([, name]) => names.includes(name));
  return {
    ...cluster,
    fleet: { ...fleet, thunderbolt },
    lock: {
      ...lock,
      links: Object.fromEntries(Object.entries(lock.links).filter(([name]) => !names.includes(name))),
      formerNetworks: { ...lock.formerNetworks, ...Object.fromEntries(former) },
    },
    additions: additions.filter((line) => !names.some((name) => line.startsWith(`link ${name}: `))),
  };
}

/** Looks and plans; networks of links that are new go around what was seen, and the plan is made from the same look. */
export async function lookAndSettle(
  run: Run,
  cluster: SettledCluster,
  wish: Omit<PlanWish, 'fleet'>,
): Promise<{ readonly cluster: SettledCluster; readonly looked: LookedPlan }> {
  const looked = await lookAndPlan(run, { ...wish, fleet: cluster.fleet });
  const around = settleAround(cluster, looked.observation);
  return around === cluster
    ? { cluster, looked }
    : { cluster: around, looked: planFrom(looked.observation, { ...wish, fleet: around.fleet }) };
}

/** What is to be brought about, where, and how the nodes are reached. */
interface PlanWish {
  /** Settled. */
  readonly fleet: DesiredFleet;
  readonly ways: Ways;
  readonly goal: Goal;
  readonly targets: readonly NodeName[];
  /** How patient the look is; as for a verb that changes something where absent. */
  readonly extent?: Pick<ObserveExtent, 'firstByteMs'>;
}

/** A plan and the look that it was made from. */
export interface LookedPlan {
  readonly plan: Plan;
  readonly observation: FleetObservation;
  /** Of launches over RDMA, where any can come. */
  readonly budgets?: readonly NodeBudget[];
}

/** Observes the targets, and what else must be seen to judge them, and plans. */
export async function lookAndPlan(run: Run, wish: PlanWish): Promise<LookedPlan> {
  return planFrom(await observeNodes(run, nodesToSee(wish.fleet, wish.targets), wish.ways, wish.extent), wish);
}

/** Plans from a look that was had already. */
function planFrom(observation: FleetObservation, { fleet, goal, targets }: PlanWish): LookedPlan {
  const plan = makePlan({ goal, desired: fleet, observation, targets });
  const budgets = launchBudgets(viewOf({ desired: fleet, observation, targets }));
  return { plan, observation, budgets };
}
