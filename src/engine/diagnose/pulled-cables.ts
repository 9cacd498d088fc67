import type { LinkEnd, NodeName } from '../../model/node.ts';
import type { Cabling } from '../../rack/cabling/judge-cabling.ts';
import { isSameEnd } from '../../rack/cabling/receptacle-view.ts';
import type { RunningPlacement } from '../../rack/placement/members.ts';

/** The two nodes that a cable joins. */
export type JoinedPair = readonly NodeName[];

/**
 * The two nodes of every cable that is plugged in at one of these receptacles, as far as it is seen. One end that sees
 * the other is enough: traffic may go over a cable of which the far end says nothing.
 */
export function joinedNodes({ rack }: Cabling, ends: readonly LinkEnd[]): readonly JoinedPair[] {
  const isAsked = (end: LinkEnd): boolean => ends.some((one) => isSameEnd(one, end));
  return rack.views.flatMap(({ at, peers }) =>
    peers.flatMap((peer): readonly JoinedPair[] =>
      peer.kind === 'node' && (isAsked(at) || isAsked(peer.end)) ? [[at.node, peer.end.node]] : [],
    ),
  );
}

/** The placements that have ranks at both nodes of one of these pairs: they may use the cable between them. */
export const runningOver = (
  running: readonly RunningPlacement[],
  pairs: readonly JoinedPair[],
): readonly RunningPlacement[] =>
  running.filter(({ nodes }) => pairs.some((pair) => pair.every((node) => nodes.includes(node))));
