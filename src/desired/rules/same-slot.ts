import type { Draft } from '../draft.ts';
import type { Finding } from '../finding.ts';
import { portsPerSlot, rankPort, rankSlot } from '../rank-port.ts';
import { sharedNode } from '../shared-node.ts';

/** Placements that share a node have ports of their own for their ranks, in every generation. */
export function sameSlot({ placements }: Draft): readonly Finding[] {
  return placements.flatMap((placement, index) => {
    const slot = rankSlot(placement.name);
    const other = placements
      .slice(0, index)
      .find((one) => rankSlot(one.name) === slot && sharedNode(one, placement) !== undefined);
    if (other === undefined) return [];
    const [first, last] = [rankPort(placement.name, 0), rankPort(placement.name, portsPerSlot - 1)];
    const finding: Finding = {
      code: 'placement/same-slot',
      pointer: placement.pointer,
      at: 'key',
      label: `same ports as ${other.name}`,
      detail: `Both run on ${sharedNode(other, placement) ?? ''}, and their ranks meet on ports ${first} to ${last}.`,
      subject: `placement ${placement.name}`,
      others: [{ pointer: other.pointer, at: 'key', detail: 'The other placement.' }],
    };
    return [finding];
  });
}
