import { linkText } from '../../desired/links/link-network.ts';
import type { MlxRuntime } from '../../model/desired.ts';
import { type Link, type LinkEnd, linkEndText } from '../../model/link.ts';
import { linksBetween } from '../contract/link-address.ts';
import type { PlacementCheck, PlacementFinding } from '../contract/placement-check.ts';
import { usedPerHop } from './backend.ts';

type Check = Pick<PlacementCheck<MlxRuntime>, 'placement' | 'fleet' | 'nodes' | 'names'>;

/** The cables of each hop of a ring in rank order; the one hop between two ranks once. */
const hopsOf = ({ placement: { nodes }, fleet: { thunderbolt } }: Check): readonly (readonly Link[])[] =>
  nodes.slice(0, nodes.length === 2 ? 1 : nodes.length).flatMap((node, rank) => {
    const next = nodes[(rank + 1) % nodes.length];
    return next === undefined ? [] : [linksBetween(thunderbolt, node, next)];
  });

/**
 * Further cables that a start of a ring of JACCL leaves out because nobody saw the device of an end. Without the first
 * cable of a hop nothing is started, and a node without facts is waited for: both are told elsewhere.
 */
export function leftOut(check: Check): readonly PlacementFinding[] {
  const { nodes, names } = check;
  if (names === undefined) return [];
  const hops = hopsOf(check);
  const isUnseen = (end: LinkEnd): boolean =>
    names.device(end) === undefined && nodes.some(({ node, mac }) => node === end.node && mac !== undefined);
  const seen = hops.map((links) => links.filter(({ ends }) => !ends.some(isUnseen)));
  const [declared, used] = [hops, seen].map((all) => usedPerHop(all.map(({ length }) => length)));
  if (declared === undefined || used === undefined || used >= declared || used === 0) return [];
  // A hop that has enough without it misses nothing.
  const short = hops.filter((_, hop) => (seen[hop]?.length ?? 0) < declared);
  const lost = short.flatMap((links) => links.slice(1).filter(({ ends }) => ends.some(isUnseen)));
  const ends = lost.flatMap((link) => link.ends.filter(isUnseen));
  if (ends.length === 0) return [];
  const words = `The RDMA device of ${ends.map(linkEndText).join(', ')} was not seen, so a start leaves out ${lost.map((link) => linkText(link.ends)).join(', ')}`;
  const detail = `${words}; every hop of the ring uses ${used} of ${declared} cables.`;
  return [{ code: 'mlx/cable-left-out', severity: 'notice', detail }];
}
