import { everyNode, withFallbacks } from '../../desired/layouts.ts';
import type { FactName } from '../../engine/observe/facts.ts';
import type { DesiredFleet, DesiredPlacement } from '../../model/desired.ts';
import type { NodeObservation } from '../../model/facts/fact-values.ts';
import type { NodeName } from '../../model/node.ts';
import { isRunning, seeMember } from '../../rack/placement/members.ts';
import { whereTheyRanLast } from '../../rack/placement/state/layouts.ts';
import type { OpenedCluster } from '../cluster/open-cluster.ts';
import { lockedFleet } from '../cluster/settle-cluster.ts';
import type { Ways } from '../cluster/ways.ts';
import { observeNodes } from '../look/observe-fleet.ts';
import type { Run } from '../verb.ts';

/** Whether a placement has a process on a node; undefined where nobody could see it. */
function runsOn(name: string, node: NodeName, observed: Observed): boolean | undefined {
  const { seen } = seeMember(node, name, Object.hasOwn(observed, node) ? observed[node]?.facts : undefined);
  return seen.kind === 'unknown' ? undefined : isRunning(seen.value);
}

type Observed = Readonly<Record<string, NodeObservation>>;

/** Looks at some nodes. */
type Look = (nodes: readonly NodeName[]) => Promise<Observed>;

/** Which ranks a node has is all that counts; asking a busy endpoint for a token would take long. */
const rankFacts: readonly FactName[] = ['placements', 'services'];

/**
 * The fleet of a cluster file with those placements on their fallback that run there, or ran there last. Only nodes of
 * placements that the command line names, or whose nodes, and that have a fallback are looked at; of all others the file says where they are.
 */
export async function fleetAsItRuns(run: Run, cluster: OpenedCluster, ways: Ways): Promise<DesiredFleet> {
  const { fleet } = cluster;
  const isMeant = (one: DesiredPlacement): boolean =>
    [one.name, ...everyNode(one)].some((name) => run.words.includes(name));
  if (!fleet.placements.some((one) => one.fallback !== undefined && isMeant(one))) return fleet;
  const found = await findFallbacks(lockedFleet(run, cluster), isMeant, async (names) => {
    const nodes = fleet.nodes.filter(({ name }) => names.includes(name));
    return (await observeNodes(run, nodes, ways, { facts: rankFacts })).nodes;
  });
  for (const { name, nodes } of found.unseen) {
    const where = nodes.join(', ');
    run.console.err(`${where}: not seen; ${name} may run on its fallback there, and is taken to be on its own nodes\n`);
  }
  return withFallbacks(fleet, ({ name }) => found.there.includes(name));
}

/** Which placements are on their fallback, by name, and of which nobody can tell because no node of that was seen. */
interface FoundFallbacks {
  readonly there: readonly string[];
  readonly unseen: readonly { readonly name: string; readonly nodes: readonly NodeName[] }[];
}

/**
 * Finds out which placements are on their fallback. Its nodes are looked at first; the others, of which one is likely to be
 * away, only where ranks of it are there that do not all run.
 */
export async function findFallbacks(
  fleet: DesiredFleet,
  isMeant: (placement: DesiredPlacement) => boolean,
  look: Look,
): Promise<FoundFallbacks> {
  const meant = fleet.placements.flatMap((one) =>
    one.fallback === undefined || !isMeant(one) ? [] : [{ ...one, there: one.fallback.nodes }],
  );
  const first = await look([...new Set(meant.flatMap(({ there }) => there))]);
  const names = namesThere(fleet, first);
  const open = meant.filter(
    (one) => names.includes(one.name) && !one.there.every((node) => runsOn(one.name, node, first) === true),
  );
  const others = open.flatMap(({ nodes }) => nodes).filter((node) => !Object.hasOwn(first, node));
  const all = others.length === 0 ? first : { ...first, ...(await look([...new Set(others)])) };
  const found = namesThere(fleet, all);
  return {
    there: meant.map(({ name }) => name).filter((name) => found.includes(name)),
    unseen: meant
      .filter((one) => one.there.every((node) => runsOn(one.name, node, first) === undefined))
      .map(({ name, there }) => ({ name, nodes: there })),
  };
}

const namesThere = (fleet: DesiredFleet, observed: Observed): readonly string[] =>
  whereTheyRanLast(fleet, observed)
    .placements.filter(({ home }) => home !== undefined)
    .map(({ name }) => name);

/** A node that belongs to the other layout of a placement, and where that is instead. */
export interface ElsewhereRank {
  readonly placement: string;
  readonly node: NodeName;
  /** A sentence. */
  readonly words: string;
}

function layoutWords({ name, nodes }: Pick<DesiredPlacement, 'name' | 'nodes'>, observed: Observed): string {
  const on = (state: boolean | undefined): string =>
    nodes.filter((node) => runsOn(name, node, observed) === state).join(', ');
  const [running, idle, unseen] = [on(true), on(false), on(undefined)];
  if (unseen !== '') {
    const known = running === '' ? '' : `${name} runs on ${running}; `;
    return `${known}nobody could see whether ${running === '' ? name : 'it'} runs on ${unseen}`;
  }
  if (running === '') return `${name} does not run, and its place is ${idle}`;
  return `${name} runs on ${running}${idle === '' ? '' : `, and not on ${idle}`}`;
}

/** `kimi runs on studio-1, studio-2; no rank of it is on studio-4.` */
export function elsewhereWords(
  placement: Pick<DesiredPlacement, 'name' | 'nodes'>,
  node: NodeName,
  observed: Observed,
): string {
  const here = runsOn(placement.name, node, observed);
  const own = here === undefined ? '' : `; ${here ? 'a rank of it is left' : 'no rank of it is'} on ${node}`;
  return `${layoutWords(placement, observed)}${own}.`;
}

/** Looks where the placements run of which nodes of the other layout are meant. */
export async function findElsewhere(
  run: Run,
  { fleet, ways }: { readonly fleet: DesiredFleet; readonly ways: Ways },
  wanted: readonly { readonly placement: string; readonly elsewhere: readonly NodeName[] }[],
): Promise<readonly ElsewhereRank[]> {
  const meant = wanted.flatMap(({ placement: name, elsewhere }) => {
    const placement = fleet.placements.find((one) => one.name === name);
    return placement === undefined ? [] : elsewhere.map((node) => ({ placement, node }));
  });
  if (meant.length === 0) return [];
  const names = meant.flatMap(({ placement, node }) => [...placement.nodes, node]);
  const nodes = fleet.nodes.filter(({ name }) => names.includes(name));
  const observed = (await observeNodes(run, nodes, ways, { facts: rankFacts })).nodes;
  return meant.map(({ placement, node }) => ({
    placement: placement.name,
    node,
    words: elsewhereWords(placement, node, observed),
  }));
}
