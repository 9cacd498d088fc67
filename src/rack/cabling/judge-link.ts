import type { Link, LinkEnd, NodeName } from '../../model/node.ts';
import { isSameEnd, type ReceptacleView, type SeenPeer } from './receptacle-view.ts';

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

/** A declared link with what is seen at its ends, in the order of `link.ends`. */
export interface JudgedLink {
  readonly link: Link;
  readonly views: readonly [ReceptacleView, ReceptacleView];
  readonly judgement: LinkJudgement;
}

type NodePeer = Extract<SeenPeer, { kind: 'node' }>;

const findPeer = (view: ReceptacleView, end: LinkEnd): NodePeer | undefined =>
  view.peers.find((peer): peer is NodePeer => peer.kind === 'node' && isSameEnd(peer.end, end));

const isAmbiguous = (view: ReceptacleView): boolean => view.peers.some((peer) => peer.kind === 'ambiguous');

function judgeStraight(a: ReceptacleView, b: ReceptacleView, limitedNodes: readonly NodeName[]): LinkJudgement {
  const speeds = [a.linkBitsPerSecond, b.linkBitsPerSecond].filter((one) => one !== undefined);
  if (speeds.length === 0) {
    return { kind: 'as-declared' };
  }
  const bitsPerSecond = Math.min(...speeds);
  if (bitsPerSecond >= minimumLinkBitsPerSecond) {
    return { kind: 'as-declared', bitsPerSecond };
  }
  const limitedBy = limitedNodes.filter((name) => name === a.at.node || name === b.at.node);
  return { kind: 'slow', bitsPerSecond, limitedBy };
}

function judgeStrangers(a: ReceptacleView, b: ReceptacleView): LinkJudgement {
  const isQuiet = (view: ReceptacleView): boolean => view.kind === 'empty' || view.kind === 'silent';
  if (isQuiet(a) && isQuiet(b)) {
    return { kind: a.kind === 'empty' || b.kind === 'empty' ? 'missing' : 'unknown' };
  }
  // Two nodes that answer as one Mac make every bus of theirs ambiguous; the peer may well be the declared one.
  return { kind: isAmbiguous(a) || isAmbiguous(b) ? 'unknown' : 'elsewhere' };
}

/**
 * Judges one declared link by the views of its two ends, given in the order of `link.ends`; swapping both changes
 * nothing. `limitedNodes` are known to have Thunderbolt 4 at most.
 */
export function judgeLink(
  link: Link,
  views: readonly [ReceptacleView, ReceptacleView],
  limitedNodes: readonly NodeName[],
): LinkJudgement {
  const [a, b] = views;
  if (a.kind === 'unknown' || b.kind === 'unknown') {
    return { kind: 'unknown' };
  }
  if (a.kind === 'absent' || b.kind === 'absent') {
    return { kind: 'no-receptacle' };
  }
  const there = findPeer(a, link.ends[1]);
  const back = findPeer(b, link.ends[0]);
  if (there !== undefined && back !== undefined) {
    const isStraight = there.hubsBetween === 0 && back.hubsBetween === 0;
    return isStraight ? judgeStraight(a, b, limitedNodes) : { kind: 'through-hub' };
  }
  return there === undefined && back === undefined ? judgeStrangers(a, b) : { kind: 'one-sided' };
}
