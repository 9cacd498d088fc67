import { placementSubject } from '../../../model/subject.ts';
import type { Draft } from '../../draft/draft.ts';
import { draftLayouts } from '../../draft/draft-placements.ts';
import type { Finding } from '../../draft/finding.ts';

/** A model on two or more nodes is split, and the file says how. */
export function shardingMissing(draft: Draft): readonly Finding[] {
  return draftLayouts(draft.placements).flatMap(({ name, pointer, nodes, hasSharding }) => {
    if (hasSharding || nodes.length < 2) return [];
    const finding: Finding = {
      code: 'placement/sharding-missing',
      pointer,
      at: 'key',
      detail: `${name} has ${nodes.length} nodes.`,
      subject: placementSubject(name),
    };
    return [finding];
  });
}
