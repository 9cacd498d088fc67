import { type Link, type LinkEnd, linkEndText, type NodeName } from '../../model/node.ts';
import { compareEnds, isSameEnd, orderedPair, type ReceptacleView, type SeenPeer } from './receptacle-view.ts';
import { type ObservedNodes, type SeenRack, seeReceptacles, viewAt } from './see-receptacles.ts';

/** One cable between two nodes as both its ends see it. Its ends are in printing order. */
export interface SeenCable {
  readonly ends: readonly [LinkEnd, LinkEnd];
  /** The slower of what the two ends say, in bits per second. */
  readonly bitsPerSecond?: number;
  readonly hubsBetween: number;
}

/** A declared link with what is seen at its ends, in the order of `link.ends`. */
export interface JudgedLink {
  readonly link: Link;
  readonly views: readonly [ReceptacleView, ReceptacleView];
  readonly judgement: LinkJudgement;
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
      if (peer.kind !== 'node' || !peer.isMutual || isSameEnd(view.at, peer.end)) continue;
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

/** Slower than this a cable carries IP but no RDMA: a Thunderbolt 4 cable or receptacle gives 40 Gb/s. */
export const minimumLinkBitsPerSecond = 80e9;

/**
 * What became of one declared link:
 * `as-declared` the cable runs between its two ends, fast enough as far as macOS says ·
 * `slow` it does, below 80 Gb/s: because of a Mac at an end that can do no more, else because of the cable ·
 * `through-hub` it does, with a dock or hub between ·
 * `one-sided` one end sees the other and is not seen by it ·
 * `missing` no cable is seen at either end and at least one of them is empty ·
 * `elsewhere` something else is plugged in at an end ·
 * `no-receptacle` a Mac has no receptacle of the declared number ·
 * `unknown` an end could not be looked at, or something is plugged in at both and nothing answers: no judgement.
 */
export type LinkJudgement =
  | { readonly kind: 'as-declared'; readonly bitsPerSecond?: number }
  | {
      readonly kind: 'slow';
      readonly bitsPerSecond: number;
      /** The nodes at its ends that are known to do no more, whatever the cable; empty when it is the cable. */
      readonly limitedBy: readonly NodeName[];
    }
  | { readonly kind: 'through-hub' }
  | { readonly kind: 'one-sided' }
  | { readonly kind: 'missing' }
  | { readonly kind: 'elsewhere' }
  | { readonly kind: 'no-receptacle' }
  | { readonly kind: 'unknown' };

type NodePeer = Extract<SeenPeer, { kind: 'node' }>;

const findPeer = (view: ReceptacleView, end: LinkEnd): NodePeer | undefined =>
  view.peers.find((peer): peer is NodePeer => peer.kind === 'node' && isSameEnd(peer.end, end));

const isAmbiguous = (view: ReceptacleView): boolean => view.peers.some((peer) => peer.kind === 'ambiguous');

function judgeStraight(a: ReceptacleView, b: ReceptacleView, limitedNodes: readonly NodeName[]): LinkJudgement {
  const speeds = [a.linkBitsPerSecond, b.linkBitsPerSecond].filter((one) => one !== undefined);
  if (speeds.length === 0) return { kind: 'as-declared' };
  const bitsPerSecond = Math.min(...speeds);
  if (bitsPerSecond >= minimumLinkBitsPerSecond) return { kind: 'as-declared', bitsPerSecond };
  const limitedBy = limitedNodes.filter((name) => name === a.at.node || name === b.at.node);
  return { kind: 'slow', bitsPerSecond, limitedBy };
}

function judgeStrangers(a: ReceptacleView, b: ReceptacleView): LinkJudgement {
  const isQuiet = (view: ReceptacleView): boolean => view.kind === 'empty' || view.kind === 'silent';
  if (isQuiet(a) && isQuiet(b)) return { kind: a.kind === 'empty' || b.kind === 'empty' ? 'missing' : 'unknown' };
  // Two nodes that answer as one Mac make every bus of theirs ambiguous; the peer may well be the declared one.
  return { kind: isAmbiguous(a) || isAmbiguous(b) ? 'unknown' : 'elsewhere' };
}

/**
 * Judges one declared link by the views of its two ends, given in the order of `link.ends`; swapping both changes
 * nothing. `limitedNodes` are known to have Thunderbolt 4 at most.
 */
function judgeLink(
  link: Link,
  views: readonly [ReceptacleView, ReceptacleView],
  limitedNodes: readonly NodeName[],
): LinkJudgement {
  const [a, b] = views;
  if (a.kind === 'unknown' || b.kind === 'unknown') return { kind: 'unknown' };
  if (a.kind === 'absent' || b.kind === 'absent') return { kind: 'no-receptacle' };
  const there = findPeer(a, link.ends[1]);
  const back = findPeer(b, link.ends[0]);
  if (there !== undefined && back !== undefined) {
    const isStraight = there.hubsBetween === 0 && back.hubsBetween === 0;
    return isStraight ? judgeStraight(a, b, limitedNodes) : { kind: 'through-hub' };
  }
  return there === undefined && back === undefined ? judgeStrangers(a, b) : { kind: 'one-sided' };
}
