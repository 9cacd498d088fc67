import { settleLinks } from '../desired/settle-links.ts';
import type { FleetObservation } from '../doctor/fleet-observation.ts';
import { officeNetworks } from '../doctor/office-networks.ts';
import { type LookedPlan, lookAndPlan, type PlanWish, planFrom } from './look-and-plan.ts';
import type { SettledCluster } from './settle-cluster.ts';
import type { Run } from './verb.ts';

/**
 * The same cluster, whose links that have no network in the lock yet get none that a node sees in use. The very same
 * where there is nothing to go around, or where the pool has too little left: then the plan says what is in the way.
 */
export function settleAround(cluster: SettledCluster, observation: FleetObservation): SettledCluster {
  const { fleet, before, lock, additions } = cluster;
  const taken = fleet.nodes.flatMap(({ name }) => {
    const facts = observation.nodes[name]?.facts;
    return facts === undefined ? [] : officeNetworks(facts).map(({ network }) => network);
  });
  const straight = settleLinks(fleet.thunderbolt, before);
  const around = settleLinks(fleet.thunderbolt, before, taken);
  const isSame = JSON.stringify(around.links) === JSON.stringify(straight.links);
  if (isSame || around.diagnostics.length > straight.diagnostics.length) return cluster;
  return {
    ...cluster,
    fleet: { ...fleet, thunderbolt: around.thunderbolt },
    lock: { ...lock, links: around.links, formerNetworks: around.formerNetworks },
    additions: [...around.additions, ...additions.filter((line) => !straight.additions.includes(line))],
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
