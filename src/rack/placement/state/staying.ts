import { plainText } from '../../../diagnostics/prose-text.ts';
import type { DesiredFleet, DesiredPlacement } from '../../../model/desired.ts';
import type { NodeName } from '../../../model/node.ts';
import { aside, meshwright } from '../../../model/text/command.ts';
import { type Prose, prose } from '../../../model/text/prose.ts';
import { holdsOf, releaseText } from '../../hold/reading.ts';
import { judgeProperty, type Property, propertyKey, type Staying, type View } from '../../resource.ts';
import { placementAddress } from '../mesh/rank-states.ts';
import { everyCase, type PlacementCase } from './placement-cases.ts';
import { placementProperty } from './placement-properties.ts';
import { survivorAddress } from './survivors.ts';

/** Nodes on which a placement may have a process, including unobserved ones. */
function mayRunOn({ mesh, elsewhere, orphanedRanks }: PlacementCase): readonly NodeName[] {
  const ranks = [...mesh.ranks, ...(elsewhere?.mesh.ranks ?? [])].filter(
    ({ seen }) => seen.kind === 'unknown' || seen.value.mayRun,
  );
  const left = orphanedRanks.filter(({ seen }) => seen.mayRun);
  return [...new Set([...ranks, ...left].map(({ node }) => node))];
}

const rankKey = (placement: string, node: NodeName): string => propertyKey({ node, ...survivorAddress(placement) });

/** The same nodes, except those on which this plan stops single ranks because other ranks are unobserved. */
const lingersOn = (one: PlacementCase, { staying }: View): readonly NodeName[] =>
  mayRunOn(one).filter((node) => !staying.stoppedRanks.includes(rankKey(one.placement.name, node)));

/** True if it runs where the file does not want it: on its fallback, or anywhere if it should be stopped. */
const isOutOfPlace = (one: PlacementCase): boolean =>
  one.placement.state === 'serving'
    ? one.elsewhere !== undefined
    : mayRunOn(one).length > 0 && judgeProperty(placementProperty(one)) !== 'met';

type Changing = Pick<Property, 'node' | 'address'>;

/**
 * What these changes leave running out of place: the placements that the view already lists, and those that do not
 * change as a whole; of their ranks, those that these changes stop individually.
 * @param changing all changed properties
 */
export function stayingAfter(view: View, changing: readonly Changing[]): Staying {
  const isStaying = (name: string): boolean =>
    view.staying.placements.includes(name) ||
    !changing.some(({ address }) => address === placementAddress(name).address);
  const placements = everyCase(view)
    .filter(isOutOfPlace)
    .map(({ placement }) => placement.name)
    .filter(isStaying);
  if (placements.length === 0) return { placements, stoppedRanks: [] };
  const addresses = view.desired.placements.map(({ name }) => survivorAddress(name).address);
  const keys = changing.filter(({ address }) => addresses.includes(address)).map(propertyKey);
  const stoppedRanks =
    view.staying.placements.length === 0 ? keys : view.staying.stoppedRanks.filter((key) => keys.includes(key));
  return { placements, stoppedRanks };
}

function asItStays(one: PlacementCase, view: View): DesiredPlacement {
  const { placement, elsewhere } = one;
  const there = elsewhere?.placement ?? placement;
  return placement.state === 'serving' ? there : { ...there, state: 'serving', lingersOn: lingersOn(one, view) };
}

const stayingCases = (view: View, except?: string): readonly PlacementCase[] =>
  everyCase(view).filter(({ placement: { name } }) => name !== except && view.staying.placements.includes(name));

/**
 * The fleet with all staying placements as they run now: a start on their nodes must fit next to them.
 * @param except the name of a placement that is not replaced
 */
export function fleetAsItStays(view: View, except?: string): DesiredFleet {
  const staying = stayingCases(view, except);
  const placements = view.desired.placements.map((placement) => {
    const one = staying.find((other) => other.placement.name === placement.name);
    return one === undefined ? placement : asItStays(one, view);
  });
  return { ...view.desired, placements };
}

/** Explains how to release a placement's nodes: it is not stopped or moved while one of them is on hold. */
function releaseWords({ placement, elsewhere, orphanedRanks }: PlacementCase, view: View): readonly Prose[] {
  const all = [...placement.nodes, ...(elsewhere?.placement.nodes ?? []), ...orphanedRanks.map(({ node }) => node)];
  return view.desired.nodes
    .filter(({ name }) => all.includes(name))
    .flatMap((desired) => {
      const holds = holdsOf(desired, view.observation.nodes[desired.name]?.facts).filter(({ isOver }) => !isOver);
      return holds.map((one) => prose`${desired.name} is no longer on hold (${releaseText(desired.name, one)})`);
    });
}

/**
 * The actions that would make room on these nodes, in order and with their commands: `kimi is stopped (meshwright stop
 * kimi)`. Empty if no placement stays there.
 */
export function roomWords(view: View, nodes: readonly NodeName[], except: string): readonly Prose[] {
  const near = stayingCases(view, except).filter((one) => {
    const { nodes: own, lingersOn: left = own } = asItStays(one, view);
    return left.some((node) => nodes.includes(node));
  });
  const moves = near.map(({ placement: { name, state } }) =>
    state === 'serving'
      ? prose`${name} is back on its own nodes (${aside(meshwright('apply'))})`
      : prose`${name} is stopped (${aside(meshwright('stop', name))})`,
  );
  const isFirst = (one: Prose, at: number, all: readonly Prose[]): boolean =>
    all.findIndex((other) => plainText(other) === plainText(one)) === at;
  return [...near.flatMap((one) => releaseWords(one, view)), ...moves].filter(isFirst);
}
