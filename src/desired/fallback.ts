import type { DesiredFleet, DesiredPlacement } from '../model/desired.ts';
import type { NodeName } from '../model/node.ts';

/** The part of a placement that says where it runs and where else it may. */
type Placed = Pick<DesiredPlacement, 'nodes' | 'fallback'> & {
  readonly home?: Pick<DesiredPlacement, 'nodes'>;
};

/**
 * The same placement on the nodes of its fallback, or as it is where it has none. Layers are divided equally there; one
 * node alone splits nothing and talks to nobody.
 */
export function onFallback(placement: DesiredPlacement): DesiredPlacement {
  const { fallback, shares: _, sharding, backend, ...rest } = placement;
  if (fallback === undefined) return placement;
  const { nodes, contextTokens } = fallback;
  const isAlone = nodes.length === 1;
  return {
    ...rest,
    nodes,
    contextTokens,
    transport: isAlone ? 'tcp' : placement.transport,
    ...(isAlone || sharding === undefined ? {} : { sharding }),
    ...(isAlone || backend === undefined ? {} : { backend }),
    home: placement,
  };
}

/** How a placement may run: as the file has it, then on its fallback, where it has one. */
export function layoutsOf(placement: DesiredPlacement): readonly DesiredPlacement[] {
  const own = placement.home ?? placement;
  return own.fallback === undefined ? [own] : [own, onFallback(own)];
}

/** The layout of a placement that is on exactly these nodes, in any order; as the file has it where none is. */
export function layoutOn(placement: DesiredPlacement, nodes: readonly NodeName[]): DesiredPlacement {
  const isOn = (one: DesiredPlacement): boolean =>
    one.nodes.length === nodes.length && one.nodes.every((node) => nodes.includes(node));
  return layoutsOf(placement).find(isOn) ?? placement;
}

/** The nodes that lead it in either layout, each once: on each of them stands its doorman. */
export const leadersOf = (placement: DesiredPlacement): readonly NodeName[] => [
  ...new Set(layoutsOf(placement).flatMap(({ nodes }) => nodes.slice(0, 1))),
];

/** Every node that may carry a placement, in either layout; the leader of the one that is given comes first. */
export const everyNode = ({ nodes, fallback, home }: Placed): readonly NodeName[] => [
  ...new Set([...nodes, ...(fallback?.nodes ?? []), ...(home?.nodes ?? [])]),
];

/** The fleet with these placements on their fallback, those that have one. */
export const withFallbacks = (
  fleet: DesiredFleet,
  isMeant: (placement: DesiredPlacement) => boolean,
): DesiredFleet => ({
  ...fleet,
  placements: fleet.placements.map((one) => (isMeant(one) ? onFallback(one) : one)),
});
