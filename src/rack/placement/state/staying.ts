import { plainText } from '../../../diagnostics/prose-text.ts';
import type { DesiredFleet, DesiredPlacement } from '../../../model/desired.ts';
import type { NodeName } from '../../../model/node.ts';
import { aside, meshwright } from '../../../model/text/command.ts';
import { type Prose, prose } from '../../../model/text/prose.ts';
import { holdsOf, releaseText } from '../../hold/node-holds.ts';
import { judgeProperty, type Property, propertyKey, type View } from '../../resource.ts';
import { placementAddress } from '../members.ts';
import { everyCase, type PlacementCase } from './placement-cases.ts';
import { placementProperty } from './placement-properties.ts';
import { survivorAddress } from './survivors.ts';

/** Nodes on which a placement may have a process; on one that nobody could look at it may. */
function mayRunOn({ mesh, elsewhere, strangers }: PlacementCase): readonly NodeName[] {
  const members = [...mesh.members, ...(elsewhere?.mesh.members ?? [])].filter(
    ({ seen }) => seen.kind === 'unknown' || seen.value.mayRun,
  );
  const left = strangers.filter(({ seen }) => seen.mayRun);
  return [...new Set([...members, ...left].map(({ node }) => node))];
}

const rankKey = (placement: string, node: NodeName): string => propertyKey({ node, ...survivorAddress(placement) });

/** The same without those on which this plan stops it by itself, since not every member of it was seen. */
const lingersOn = (one: PlacementCase, { stopping }: View): readonly NodeName[] =>
  mayRunOn(one).filter((node) => !stopping.includes(rankKey(one.placement.name, node)));

/** Whether it runs where the file does not want it: on its fallback, or anywhere though it is to be stopped. */
const isOutOfPlace = (one: PlacementCase): boolean =>
  one.placement.state === 'serving'
    ? one.elsewhere !== undefined
    : mayRunOn(one).length > 0 && judgeProperty(placementProperty(one)) !== 'met';

/** One thing that is changed. */
type Changing = Pick<Property, 'node' | 'address'>;

/**
 * Names of placements that go on as they run, though the file wants them on their own nodes, or stopped: those that do
 * so already in the view, and those that no change is about as a whole.
 *
 * @param changing everything that is changed
 */
export const stayingPlacements = (view: View, changing: readonly Changing[]): readonly string[] =>
  everyCase(view)
    .filter(isOutOfPlace)
    .map(({ placement }) => placement.name)
    .filter(
      (name) =>
        view.staying.includes(name) || !changing.some(({ address }) => address === placementAddress(name).address),
    );

/**
 * Keys of the ranks that are stopped each by itself: of these changes, and once the view counts on some, of those only.
 *
 * @param changing everything that is changed
 */
export function stoppingRanks(view: View, changing: readonly Changing[]): readonly string[] {
  const addresses = view.desired.placements.map(({ name }) => survivorAddress(name).address);
  const keys = changing.filter(({ address }) => addresses.includes(address)).map(propertyKey);
  return view.staying.length === 0 ? keys : view.stopping.filter((key) => keys.includes(key));
}

function asItStays(one: PlacementCase, view: View): DesiredPlacement {
  const { placement, elsewhere } = one;
  const there = elsewhere?.placement ?? placement;
  return placement.state === 'serving' ? there : { ...there, state: 'serving', lingersOn: lingersOn(one, view) };
}

const stayingCases = (view: View, except?: string): readonly PlacementCase[] =>
  everyCase(view).filter(({ placement: { name } }) => name !== except && view.staying.includes(name));

/**
 * The fleet with all placements that stay in the view as they run: what is started on their nodes is started beside them.
 *
 * @param except the name of one that is taken as the file has it
 */
export function fleetAsItStays(view: View, except?: string): DesiredFleet {
  const staying = stayingCases(view, except);
  const placements = view.desired.placements.map((placement) => {
    const one = staying.find((other) => other.placement.name === placement.name);
    return one === undefined ? placement : asItStays(one, view);
  });
  return { ...view.desired, placements };
}

/** What ends the holds of nodes of a placement: none of it is stopped or moved as long as one of them is held. */
function releaseWords({ placement, elsewhere, strangers }: PlacementCase, view: View): readonly Prose[] {
  const all = [...placement.nodes, ...(elsewhere?.placement.nodes ?? []), ...strangers.map(({ node }) => node)];
  return view.desired.nodes
    .filter(({ name }) => all.includes(name))
    .flatMap((desired) => {
      const holds = holdsOf(desired, view.observation.nodes[desired.name]?.facts).filter(({ isOver }) => !isOver);
      return holds.map((one) => prose`${desired.name} is no longer held (${releaseText(desired.name, one)})`);
    });
}

/**
 * What would make room on these nodes, in order, each with its verb: `kimi is stopped (meshwright stop kimi)`; empty where
 * nothing stays there.
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
