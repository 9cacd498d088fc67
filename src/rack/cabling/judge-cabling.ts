import { type Link, type LinkEnd, linkEndText, type NodeName } from '../../model/node.ts';
import { type JudgedLink, judgeLink } from './judge-link.ts';
import { compareEnds, isSameEnd, orderedPair } from './receptacle-view.ts';
import { type ObservedNodes, type SeenRack, seeReceptacles, viewAt } from './see-receptacles.ts';

/** One cable between two nodes as both its ends see it. Its ends are in printing order. */
export interface SeenCable {
  readonly ends: readonly [LinkEnd, LinkEnd];
  /** The slower of what the two ends say, in bits per second. */
  readonly bitsPerSecond?: number;
  readonly hubsBetween: number;
}

/** Declared links beside what is seen. */
export interface Cabling {
  /** In the order of the file. */
  readonly links: readonly JudgedLink[];
  readonly rack: SeenRack;
  /** Every cable that both ends agree on, sorted by its ends. */
  readonly cables: readonly SeenCable[];
}

function seenCables(rack: SeenRack): readonly SeenCable[] {
  const cables = new Map<string, SeenCable>();
  for (const view of rack.views) {
    for (const peer of view.peers) {
      if (peer.kind !== 'node' || !peer.isMutual || isSameEnd(view.at, peer.end)) {
        continue;
      }
      const ends = orderedPair(view.at, peer.end);
      const key = ends.map(linkEndText).join(' ');
      const before = cables.get(key);
      const speeds = [before?.bitsPerSecond, view.linkBitsPerSecond].filter((one) => one !== undefined);
      cables.set(key, {
        ends,
        ...(speeds.length === 0 ? {} : { bitsPerSecond: Math.min(...speeds) }),
        hubsBetween: Math.max(before?.hubsBetween ?? 0, peer.hubsBetween),
      });
    }
  }
  return [...cables.values()].toSorted(
    (a, b) => compareEnds(a.ends[0], b.ends[0]) || compareEnds(a.ends[1], b.ends[1]),
  );
}

/** Whether a Mac at one of these ends is known to have Thunderbolt 4 at most. */
export const isLimited = ({ limitedNodes }: SeenRack, ends: readonly LinkEnd[]): boolean =>
  ends.some(({ node }) => limitedNodes.includes(node));

/**
 * Compares the declared links with what every receptacle shows. `names` are all nodes of the file, looked at or not:
 * a Mac is foreign only when none of them is left that it could be. The order of names and nodes has no influence.
 */
export function judgeCabling(links: readonly Link[], names: readonly NodeName[], nodes: ObservedNodes): Cabling {
  const rack = seeReceptacles(names, nodes);
  const judged = links.map((link): JudgedLink => {
    const views = [viewAt(rack, link.ends[0]), viewAt(rack, link.ends[1])] as const;
    return { link, views, judgement: judgeLink(link, views, rack.limitedNodes) };
  });
  return { links: judged, rack, cables: seenCables(rack) };
}

/** Whether the file declares a cable between exactly these two receptacles. */
const isDeclared = (links: readonly Link[], ends: readonly [LinkEnd, LinkEnd]): boolean =>
  links.some(
    ({ ends: [a, b] }) =>
      (isSameEnd(a, ends[0]) && isSameEnd(b, ends[1])) || (isSameEnd(a, ends[1]) && isSameEnd(b, ends[0])),
  );

/** The declared link that ends in this receptacle, if there is one; a valid file has at most one. */
export const linkAt = (links: readonly JudgedLink[], end: LinkEnd): JudgedLink | undefined =>
  links.find(({ link }) => link.ends.some((one) => isSameEnd(one, end)));

/** The cables that the file does not declare. */
export const undeclaredCables = (cabling: Cabling): readonly SeenCable[] =>
  cabling.cables.filter(
    (cable) =>
      !isDeclared(
        cabling.links.map(({ link }) => link),
        cable.ends,
      ),
  );
