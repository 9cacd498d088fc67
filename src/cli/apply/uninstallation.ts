import type { PlaybookReport } from '../../apply/playbook-report.ts';
import { everyNode } from '../../desired/fallback.ts';
import { fleetWithout } from '../../engine/goals/fleet-without.ts';
import type { Goal } from '../../engine/goals/goal.ts';
import { makePlan } from '../../engine/plan/make-plan.ts';
import type { DesiredFleet, DesiredNode } from '../../model/desired.ts';
import type { NodeName } from '../../model/node.ts';
import type { FleetObservation } from '../../rack/fleet-observation.ts';
import { whereTheyRanLast } from '../../rack/placement/state/layouts.ts';
import { targetedNodes } from '../cluster/open-cluster.ts';
import { type SettledCluster, settleFromLock } from '../cluster/settle-cluster.ts';
import { namedTargets } from '../cluster/targets.ts';
import { openWays, type Ways } from '../cluster/ways.ts';
import type { LookedPlan } from '../look/look-and-plan.ts';
import type { Run } from '../verb/verb.ts';

/** The goal of this verb. */
export type UninstallGoal = Extract<Goal, { kind: 'uninstall' }>;

/** What all parts of one uninstallation share. */
export interface Uninstallation {
  readonly cluster: SettledCluster;
  readonly ways: Ways;
  /** Without what was placed on the nodes. */
  readonly fleet: DesiredFleet;
  readonly goal: UninstallGoal;
  /** The nodes, and those on which something is stopped with them. */
  readonly targets: readonly NodeName[];
}

/** What the command line asks for, before anybody has looked at the nodes. */
export interface UninstallCall extends Pick<Uninstallation, 'cluster' | 'ways'> {
  readonly nodes: readonly NodeName[];
  /** They, and all on which a placement runs, or may, that is on one of them. */
  readonly toSee: readonly DesiredNode[];
}

/** What the command line asks for. @throws FleetError for targets that the file does not have */
export function uninstallCall(run: Run): UninstallCall {
  const cluster = settleFromLock(run);
  const { fleet } = cluster;
  const nodes = targetedNodes(run, fleet, namedTargets(run, fleet)).map(({ name }) => name);
  const groups = fleet.placements.map(everyNode);
  const near = groups.filter((group) => group.some((node) => nodes.includes(node))).flat();
  const toSee = fleet.nodes.filter(({ name }) => [...nodes, ...near].includes(name));
  return { cluster, ways: openWays(run, cluster.opened), nodes, toSee };
}

/** What the command line asks for, with each placement where it runs, or where it ran last. */
export function uninstallationOf(
  { own }: Pick<Run, 'own'>,
  { cluster, ways, nodes }: UninstallCall,
  { nodes: seen }: FleetObservation,
): Uninstallation {
  const { fleet, placements } = fleetWithout(whereTheyRanLast(cluster.fleet, seen), nodes);
  const reaching = fleet.placements.filter(({ name }) => placements.includes(name)).flatMap((one) => one.nodes);
  const restore = own['restore'] === true;
  const models = own['models'] === true;
  return {
    cluster,
    fleet,
    ways,
    goal: { kind: 'uninstall', nodes, placements, restore, models },
    targets: fleet.nodes.map(({ name }) => name).filter((name) => [...nodes, ...reaching].includes(name)),
  };
}

const refusesLogin = ({ failures }: FleetObservation, node: NodeName): boolean =>
  failures[node]?.some(({ code }) => code === 'ssh/authentication-failed') === true;

/**
 * Nodes that let nobody in and that the lock has as being withdrawn, which is written there right before the script that
 * takes the way in away. Without that, a refused login says nothing: another key or account is refused as well.
 */
export const goneBefore = ({ cluster, goal }: Uninstallation, observation: FleetObservation): readonly NodeName[] =>
  goal.nodes.filter((node) => refusesLogin(observation, node) && (cluster.lock.withdrawing ?? []).includes(node));

/** Nodes whose way in this run has taken away, and that let nobody in any more. */
export function goneNow({ works }: Pick<PlaybookReport, 'works'>, observation: FleetObservation): readonly NodeName[] {
  const steps = works.flatMap(({ run }) => run?.steps ?? []);
  const withdrawn = steps.filter(
    ({ step: { act }, outcome }) =>
      act.kind === 'script' && act.name === 'withdraw-node' && (outcome === 'changed' || outcome === 'unknown'),
  );
  return withdrawn.map(({ step }) => step.node).filter((node) => refusesLogin(observation, node));
}

/** The same uninstallation without nodes on which nothing is left. */
export const withoutGone = (about: Uninstallation, gone: readonly NodeName[]): Uninstallation => ({
  ...about,
  goal: { ...about.goal, nodes: about.goal.nodes.filter((node) => !gone.includes(node)) },
  targets: about.targets.filter((node) => !gone.includes(node)),
});

/** The plan for what was seen of those that are still there. */
export function planSeen({ fleet, goal, targets }: Uninstallation, observation: FleetObservation): LookedPlan {
  const kept = <T>(record: Readonly<Record<string, T>>): Record<string, T> =>
    Object.fromEntries(Object.entries(record).filter(([name]) => targets.some((node) => node === name)));
  const seen = { nodes: kept(observation.nodes), failures: kept(observation.failures) };
  const plan = makePlan({ goal, desired: fleet, observation: seen, targets });
  return { plan, observation: seen };
}
