import type { DesiredFleet } from '../model/desired.ts';
import { neverHasRdma } from '../model/macs/mac-models.ts';
import type { NodeName } from '../model/node.ts';
import { layoutsOf } from './fallback.ts';

/** Whether the file says that this node is a Mac with Thunderbolt 4, which can never have RDMA. */
const isDeclaredWithoutRdma = ({ nodes }: DesiredFleet, name: NodeName): boolean =>
  neverHasRdma(nodes.find((node) => node.name === name)?.hardware.model);

/**
 * Whether the file needs RDMA on this node: for a placement that is on it, or would be with its fallback, or by
 * `thunderbolt.rdma: required`, which asks nothing of a Mac that is declared with Thunderbolt 4.
 */
export const needsRdma = (fleet: DesiredFleet, node: NodeName): boolean =>
  (fleet.thunderbolt.rdma === 'required' && !isDeclaredWithoutRdma(fleet, node)) ||
  fleet.placements.flatMap(layoutsOf).some(({ transport, nodes }) => transport === 'rdma' && nodes.includes(node));

/** Whether a link must reach 80 Gb/s: an end needs RDMA, and no end is a Mac that is declared with Thunderbolt 4. */
export const needsFastLink = (fleet: DesiredFleet, ends: readonly { readonly node: NodeName }[]): boolean =>
  ends.some(({ node }) => needsRdma(fleet, node)) && !ends.some(({ node }) => isDeclaredWithoutRdma(fleet, node));
