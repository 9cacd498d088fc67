import { readRates } from '../../apply/journal/measured-rates.ts';
import { linkText } from '../../desired/addresses.ts';
import { nodesToSee } from '../../desired/layouts.ts';
import { settleLinks, withGivenNetworks } from '../../desired/settle/settle-links.ts';
import { type Diagnostic, hasTrait } from '../../diagnostics/diagnostic.ts';
import { versionPointer } from '../../drivers/known-pairs.ts';
import { forecastTransfers, type NodeForecast } from '../../engine/plan/forecast.ts';
import { makePlan } from '../../engine/plan/make-plan.ts';
import type { Plan } from '../../engine/plan/plan.ts';
import { viewOf } from '../../engine/plan/view.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import { given } from '../../model/given.ts';
import type { Link, NodeName } from '../../model/node.ts';
import { subjectName } from '../../model/subject.ts';
import { areNetworksSeen, officeNetworks } from '../../rack/addresses/rule.ts';
import { soughtOn } from '../../rack/artifacts/models/model-resource.ts';
import type { FleetObservation } from '../../rack/examination.ts';
import type { Goal } from '../../rack/goal.ts';
import { launchBudgets, type NodeBudget } from '../../rack/placement/placement-blockers.ts';
import type { SettledCluster } from '../cluster/settle-cluster.ts';
import type { SshTargets } from '../cluster/ssh-targets.ts';
import { journalsOf } from '../files/places.ts';
import type { Run } from '../verb.ts';
import { type ObserveExtent, observeNodes } from './observe-fleet.ts';

/**
 * Allocates networks to new links, skipping networks that a node already uses. A link has to wait for its network if
 * the networks in use at one of its ends are unknown. If the pool is too small, no new link gets a network, and the
 * plan names the obstacle. Returns the same object if nothing changes.
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

/** The links whose network is not in the lock yet. */
function newLinks({ fleet, before }: SettledCluster): DesiredFleet['thunderbolt']['links'] {
  const given = withGivenNetworks(fleet.thunderbolt, before).networks;
  return fleet.thunderbolt.links.filter(
    ({ index }) => fleet.thunderbolt.networks[index] !== undefined && given[index] === undefined,
  );
}

/** Removes new networks that may be in use at an end of their link, because an allocated network never changes. */
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

/** Removes these new links' networks, also from the lock. */
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

/** Observes, allocates unused networks to new links, and makes the plan from the same observation. */
export async function observeAndSettle(
  run: Run,
  cluster: SettledCluster,
  input: Omit<PlanInput, 'fleet'>,
): Promise<{ readonly cluster: SettledCluster; readonly planned: ObservedPlan }> {
  const planned = await observeAndPlan(run, { ...input, fleet: cluster.fleet });
  const around = settleAround(cluster, planned.observation);
  return around === cluster
    ? { cluster, planned: withPlaces(planned, cluster) }
    : {
        cluster: around,
        planned: withPlaces(planFrom(run, planned.observation, { ...input, fleet: around.fleet }), cluster),
      };
}

/** Adds the place of a runtime's version in the file to the findings about it. */
function withPlaces(planned: ObservedPlan, { fleet, opened: { whereIs } }: SettledCluster): ObservedPlan {
  const placed = (one: Diagnostic): Diagnostic => {
    const about = one.subject !== undefined && hasTrait(one, 'in-file') ? subjectName(one.subject) : undefined;
    const runtime = fleet.runtimes.find(({ name }) => name === about);
    return runtime === undefined ? one : { ...one, ...given({ where: whereIs?.(versionPointer(runtime)) }) };
  };
  return { ...planned, plan: { ...planned.plan, diagnostics: planned.plan.diagnostics.map(placed) } };
}

interface PlanInput {
  /** The fleet with its lock's values. */
  readonly fleet: DesiredFleet;
  readonly ways: SshTargets;
  readonly goal: Goal;
  readonly targets: readonly NodeName[];
  /** The observation's time limits; absent for the limits of commands that change nodes. */
  readonly extent?: Pick<ObserveExtent, 'firstByteMs'>;
}

export interface ObservedPlan {
  readonly plan: Plan;
  readonly observation: FleetObservation;
  /** RDMA launch budgets, if the fleet can have any. */
  readonly budgets?: readonly NodeBudget[];
  /** The bytes that the plan brings to each node. */
  readonly transfers?: readonly NodeForecast[];
}

/** Observes the targets and all other nodes that the plan depends on, and makes the plan. */
export async function observeAndPlan(run: Run, input: PlanInput): Promise<ObservedPlan> {
  const { fleet, targets, ways, extent } = input;
  const modelsOn = (node: NodeName) => soughtOn(fleet, node);
  return planFrom(run, await observeNodes(run, nodesToSee(fleet, targets), ways, { modelsOn, ...extent }), input);
}

function planFrom(run: Run, observation: FleetObservation, { fleet, goal, targets }: PlanInput): ObservedPlan {
  const plan = makePlan({ goal, desired: fleet, observation, targets });
  const view = viewOf({ desired: fleet, observation, targets });
  const transfers = forecastTransfers(plan.steps, view);
  const rates = transfers.length === 0 ? {} : readRates(journalsOf(run, fleet.name));
  return { plan, observation, budgets: launchBudgets(view), transfers: transfers.map((one) => ({ ...one, rates })) };
}
