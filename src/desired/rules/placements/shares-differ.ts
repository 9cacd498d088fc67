import { placementSubject } from '../../../model/subject.ts';
import type { Draft } from '../../draft/draft.ts';
import { pointerTo } from '../../draft/draft-values.ts';
import type { Finding } from '../../draft/finding.ts';

/** A placement that has shares has one for each of its nodes. */
export function sharesDiffer({ placements }: Draft): readonly Finding[] {
  return placements.flatMap(({ name, pointer, nodes, hasAllNodes, shareCount }) => {
    if (shareCount === undefined || !hasAllNodes || shareCount === nodes.length) return [];
    const finding: Finding = {
      code: 'placement/shares-differ',
      pointer: pointerTo(pointer, 'shares'),
      at: 'value',
      detail: `${name} has ${nodes.length === 1 ? 'one node' : `${nodes.length} nodes`} and ${shareCount === 1 ? 'one share' : `${shareCount} shares`}.`,
      subject: placementSubject(name),
    };
    return [finding];
  });
}
