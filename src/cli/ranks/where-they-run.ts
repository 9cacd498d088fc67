import { everyNode, withFallbacks } from '../../desired/layouts.ts';
import type { FactName } from '../../engine/observe/facts.ts';
import type { DesiredFleet, DesiredPlacement } from '../../model/desired.ts';
import type { NodeObservation } from '../../model/facts/fact-values.ts';
import { everyNodeText, type NodeName } from '../../model/node.ts';
import { isRunning, seeRank } from '../../rack/placement/mesh/rank-states.ts';
import { whereTheyRanLast } from '../../rack/placement/state/layouts.ts';
import type { OpenedCluster } from '../cluster/open-cluster.ts';
import { lockedFleet } from '../cluster/settle-cluster.ts';
import type { SshTargets } from '../cluster/ssh-targets.ts';
import { observeNodes } from '../look/observe-fleet.ts';
import type { Run } from '../verb.ts';

/** True if a placement has a process on a node; undefined if unknown. */
function runsOn(name: string, node: NodeName, observed: Observed): boolean | undefined {
  const { seen } = seeRank(node, name, Object.hasOwn(observed, node) ? observed[node]?.facts : undefined);
  return seen.kind === 'unknown' ? undefined : isRunning(seen.value);
}

type Observed = Readonly<Record<string, NodeObservation>>;

type Observe = (nodes: readonly NodeName[]) => Promise<Observed>;

/** Only the node's ranks matter, and a busy endpoint would answer a token request slowly. */
const rankFacts: readonly FactName[] = ['placements', 'services'];

/**
 * The fleet in its running layouts: placements are on their fallback if they are running or last ran there. Observes
 * only nodes of placements that have a fallback and are named on the command line, directly or through a node.
 */
export async function fleetAsItRuns(run: Run, cluster: OpenedCluster, ways: SshTargets): Promise<DesiredFleet> {
  const { fleet } = cluster;
  const isChosen = (one: DesiredPlacement): boolean =>
    [one.name, ...everyNode(one)].some((name) => run.words.includes(name));
  if (!fleet.placements.some((one) => one.fallback !== undefined && isChosen(one))) return fleet;
  const found = await findFallbacks(lockedFleet(run, cluster), isChosen, async (names) => {
    const nodes = fleet.nodes.filter(({ name }) => names.includes(name));
    return (await observeNodes(run, nodes, ways, { facts: rankFacts })).nodes;
  });
  for (const { name, nodes } of found.unseen) {
    const where = everyNodeText(nodes);
    run.console.err(`${where} not reached: assuming that ${name} runs on its own nodes, not on its fallback there\n`);
  }
  return withFallbacks(fleet, ({ name }) => found.there.includes(name));
}

/**
 * Finds the placements that are on their fallback. Observes the fallback's nodes first. The placement's own nodes, one
 * of which is probably down, are observed only if the fallback has ranks and not all of them are running.
 */
export async function findFallbacks(
  fleet: DesiredFleet,
  isChosen: (placement: DesiredPlacement) => boolean,
  observe: Observe,
) {
  const chosen = fleet.placements.flatMap((one) =>
    one.fallback === undefined || !isChosen(one) ? [] : [{ ...one, there: one.fallback.nodes }],
  );
  const first = await observe([...new Set(chosen.flatMap(({ there }) => there))]);
  const names = namesThere(fleet, first);
  const open = chosen.filter(
    (one) => names.includes(one.name) && !one.there.every((node) => runsOn(one.name, node, first) === true),
  );
  const others = open.flatMap(({ nodes }) => nodes).filter((node) => !Object.hasOwn(first, node));
  const all = others.length === 0 ? first : { ...first, ...(await observe([...new Set(others)])) };
  const found = namesThere(fleet, all);
  return {
    /** The names of placements on their fallback, followed by placements for which this is unknown. */
    there: chosen.map(({ name }) => name).filter((name) => found.includes(name)),
    unseen: chosen
      .filter((one) => one.there.every((node) => runsOn(one.name, node, first) === undefined))
      .map(({ name, there }) => ({ name, nodes: there })),
  };
}

const namesThere = (fleet: DesiredFleet, observed: Observed): readonly string[] =>
  whereTheyRanLast(fleet, observed)
    .placements.filter(({ ownLayout }) => ownLayout !== undefined)
    .map(({ name }) => name);

/** A named node outside the placement's current layout, with a sentence about where the placement runs. */
export interface ElsewhereRank {
  readonly placement: string;
  readonly node: NodeName;
  /** A sentence. */
  readonly words: string;
}

function layoutWords({ name, nodes }: Pick<DesiredPlacement, 'name' | 'nodes'>, observed: Observed): string {
  const on = (state: boolean | undefined): string =>
    everyNodeText(nodes.filter((node) => runsOn(name, node, observed) === state));
  const [running, idle, unseen] = [on(true), on(false), on(undefined)];
  if (unseen !== '') {
    const known = running === '' ? '' : `${name} runs on ${running}; `;
    return `${known}unknown whether ${running === '' ? name : 'it'} runs on ${unseen}`;
  }
  if (running === '') return `${name} does not run; its nodes are ${idle}`;
  return `${name} runs on ${running}${idle === '' ? '' : `, but not on ${idle}`}`;
}

/** A sentence such as `kimi runs on studio-1, studio-2; it has no rank on studio-4.` */
export function elsewhereWords(
  placement: Pick<DesiredPlacement, 'name' | 'nodes'>,
  node: NodeName,
  observed: Observed,
): string {
  const here = runsOn(placement.name, node, observed);
  const own = here === undefined ? '' : `; it has ${here ? 'an orphaned rank' : 'no rank'} on ${node}`;
  return `${layoutWords(placement, observed)}${own}.`;
}

/** Finds where the placements run if the command line names nodes in their other layout. */
export async function findElsewhere(
  run: Run,
  { fleet, ways }: { readonly fleet: DesiredFleet; readonly ways: SshTargets },
  wanted: readonly { readonly placement: string; readonly elsewhere: readonly NodeName[] }[],
): Promise<readonly ElsewhereRank[]> {
  const chosen = wanted.flatMap(({ placement: name, elsewhere }) => {
    const placement = fleet.placements.find((one) => one.name === name);
    return placement === undefined ? [] : elsewhere.map((node) => ({ placement, node }));
  });
  if (chosen.length === 0) return [];
  const names = chosen.flatMap(({ placement, node }) => [...placement.nodes, node]);
  const nodes = fleet.nodes.filter(({ name }) => names.includes(name));
  const observed = (await observeNodes(run, nodes, ways, { facts: rankFacts })).nodes;
  return chosen.map(({ placement, node }) => ({
    placement: placement.name,
    node,
    words: elsewhereWords(placement, node, observed),
  }));
}
