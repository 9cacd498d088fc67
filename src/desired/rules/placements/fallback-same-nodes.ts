import { placementSubject } from '../../../model/subject.ts';
import type { Draft } from '../../draft/draft.ts';
import type { Finding } from '../../draft/finding.ts';

/** A fallback is there for when a node of the placement is away, so it has others, or fewer. */
export function fallbackSameNodes({ placements }: Draft): readonly Finding[] {
  return placements.flatMap(({ name, nodes, fallback }) => {
    const own = new Set(nodes.map(({ text }) => text));
    const there = new Set(fallback?.nodes.map(({ text }) => text));
    if (fallback === undefined || own.size === 0 || [...own].some((node) => !there.has(node))) return [];
    const finding: Finding = {
      code: 'placement/fallback-same-nodes',
      pointer: `${fallback.pointer}/nodes`,
      at: 'key',
      detail: `It needs ${own.size === 1 ? 'the one node' : 'every node'} of ${name} itself: ${[...own].join(', ')}.`,
      subject: placementSubject(name),
    };
    return [finding];
  });
}
