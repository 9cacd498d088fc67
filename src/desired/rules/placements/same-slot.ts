import { placementSubject } from '../../../model/subject.ts';
import type { Draft } from '../../draft/draft.ts';
import { draftLayouts } from '../../draft/draft-placements.ts';
import type { Finding } from '../../draft/finding.ts';
import { rankPorts, rankSlot } from '../../rank-port.ts';
import { pairKey, sharedNode } from '../../shared-node.ts';

/** Placements that share a node have ports of their own for their ranks, in every generation. */
export function sameSlot({ placements }: Draft): readonly Finding[] {
  const told = new Set<string>();
  return draftLayouts(placements).flatMap((placement, index, all) => {
    const slot = rankSlot(placement.name);
    const other = all
      .slice(0, index)
      .find(
        (one) =>
          one.name !== placement.name &&
          rankSlot(one.name) === slot &&
          sharedNode(one, placement) !== undefined &&
          !told.has(pairKey(one, placement)),
      );
    if (other === undefined) return [];
    told.add(pairKey(other, placement));
    const { first, last } = rankPorts(placement.name);
    const finding: Finding = {
      code: 'placement/same-slot',
      pointer: placement.pointer,
      at: 'key',
      label: `same ports as ${other.name}`,
      detail: `Both run on ${sharedNode(other, placement) ?? ''}, and their ranks meet on ports ${first} to ${last}.`,
      subject: placementSubject(placement.name),
      others: [{ pointer: other.pointer, at: 'key', detail: 'The other placement.' }],
    };
    return [finding];
  });
}
