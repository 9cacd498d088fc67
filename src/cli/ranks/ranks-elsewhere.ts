import type { DesiredFleet, DesiredPlacement } from '../../model/desired.ts';
import type { NodeObservation } from '../../model/facts/observation.ts';
import type { NodeName } from '../../model/node.ts';
import { isRunning, seeMember } from '../../rack/placement/members/member.ts';
import { rankFacts } from '../apply/where-they-run.ts';
import type { Ways } from '../cluster/ways.ts';
import { observeNodes } from '../look/observe-fleet.ts';
import type { Run } from '../verb/verb.ts';
import type { WantedRanks } from './wanted-ranks.ts';

/** A node that belongs to the other layout of a placement, and where that is instead. */
export interface ElsewhereRank {
  readonly placement: string;
  readonly node: NodeName;
  /** A sentence. */
  readonly words: string;
}

type Observed = Readonly<Record<string, NodeObservation>>;

/** Whether a placement has a process on a node; undefined where nobody could see it. */
function runsOn(name: string, node: NodeName, observed: Observed): boolean | undefined {
  const { seen } = seeMember(node, name, Object.hasOwn(observed, node) ? observed[node]?.facts : undefined);
  return seen.kind === 'unknown' ? undefined : isRunning(seen.value);
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
  wanted: readonly WantedRanks[],
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
