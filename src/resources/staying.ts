import { placementAddress } from '../mesh/mesh-step.ts';
import type { DesiredFleet, DesiredPlacement } from '../model/desired.ts';
import type { NodeName } from '../model/node.ts';
import { judgeProperty } from './change.ts';
import { everyCase, type PlacementCase } from './placement-cases.ts';
import { placementProperty } from './placement-properties.ts';
import type { View } from './resource.ts';

/** Nodes on which a placement may have a process; on one that nobody could look at it may. */
function lingersOn({ mesh, elsewhere, strangers }: PlacementCase): readonly NodeName[] {
  const members = [...mesh.members, ...(elsewhere?.mesh.members ?? [])].filter(
    ({ seen }) => seen.kind === 'unknown' || seen.value.mayRun,
  );
  const left = strangers.filter(({ seen }) => seen.mayRun);
  return [...new Set([...members, ...left].map(({ node }) => node))];
}

/** Whether it runs where the file does not want it: on its fallback, or anywhere though it is to be stopped. */
const isOutOfPlace = (one: PlacementCase): boolean =>
  one.placement.state === 'serving'
    ? one.elsewhere !== undefined
    : lingersOn(one).length > 0 && judgeProperty(placementProperty(one)) !== 'met';

/**
 * Names of placements that go on as they run, though the file wants them on their own nodes, or stopped: those that do
 * so already in the view, and those that no change is about.
 *
 * @param changing addresses of everything that is changed
 */
export const stayingPlacements = (view: View, changing: readonly string[]): readonly string[] =>
  everyCase(view)
    .filter(isOutOfPlace)
    .map(({ placement }) => placement.name)
    .filter((name) => view.staying.includes(name) || !changing.includes(placementAddress(name)));

const asItStays = (one: PlacementCase): DesiredPlacement => {
  const { placement, elsewhere } = one;
  const there = elsewhere?.placement ?? placement;
  return placement.state === 'serving' ? there : { ...there, state: 'serving', lingersOn: lingersOn(one) };
};

/**
 * The fleet with all placements that stay in the view as they run: what is started on their nodes is started beside them.
 *
 * @param except the name of one that is taken as the file has it
 */
export function fleetAsItStays(view: View, except?: string): DesiredFleet {
  const staying = everyCase(view).filter(({ placement: { name } }) => name !== except && view.staying.includes(name));
  const placements = view.desired.placements.map((placement) => {
    const one = staying.find((other) => other.placement.name === placement.name);
    return one === undefined ? placement : asItStays(one);
  });
  return { ...view.desired, placements };
}

/** What would make room on these nodes, with its verb: `kimi is stopped (meshwright stop kimi)`; empty where nothing stays there. */
export const roomWords = (view: View, nodes: readonly NodeName[], except: string): readonly string[] =>
  fleetAsItStays(view, except)
    .placements.filter((one) => !view.desired.placements.includes(one))
    .filter((one) => one.nodes.some((node) => nodes.includes(node) && (one.lingersOn ?? nodes).includes(node)))
    .map(({ name, lingersOn: left }) =>
      left === undefined
        ? `${name} is back on its own nodes (meshwright apply)`
        : `${name} is stopped (meshwright stop ${name})`,
    );
