import type { Facts, NodeObservation, ThunderboltPeer, ThunderboltReceptacle } from '../../model/facts/fact-values.ts';
import { given } from '../../model/given.ts';
import { compareText } from '../../model/lists.ts';
import { neverHasRdma } from '../../model/macs.ts';
import { type Link, type LinkEnd, linkEndText, type NodeName } from '../../model/node.ts';
import { thunderboltFact } from '../cables/fact.ts';
import { readValue } from '../fact.ts';
import { hardwareFact } from '../identity/fact.ts';
import { compareEnds, isSameEnd, orderedPair, type ReceptacleView, type SeenPeer } from './receptacle-view.ts';

/** One cable between two nodes, seen from both ends, with its ends in printing order. */
export interface SeenCable {
  readonly ends: readonly [LinkEnd, LinkEnd];
  /** The slower of the speeds that the two ends report, in bits per second. */
  readonly bitsPerSecond?: number;
  readonly hubsBetween: number;
}

/** A declared link with the views of its ends, in the order of `link.ends`. */
export interface JudgedLink {
  readonly link: Link;
  readonly views: readonly [ReceptacleView, ReceptacleView];
  readonly judgement: LinkJudgement;
}

export interface Cabling {
  /** In file order. */
  readonly links: readonly JudgedLink[];
  readonly rack: SeenRack;
  /** Every cable that both its ends see, sorted by its ends. */
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

/** True if a Mac at one of these ends is known to have Thunderbolt 4 at most. */
export const isLimited = ({ limitedNodes }: SeenRack, ends: readonly LinkEnd[]): boolean =>
  ends.some(({ node }) => limitedNodes.includes(node));

/**
 * Compares the declared links with what every receptacle sees. `names` lists all nodes in the file, observed or not: a
 * Mac is foreign only if it cannot be any of these nodes. The order of names and nodes does not matter.
 */
export function judgeCabling(links: readonly Link[], names: readonly NodeName[], nodes: ObservedNodes): Cabling {
  const rack = seeReceptacles(names, nodes);
  const judged = links.map((link): JudgedLink => {
    const views = [viewAt(rack, link.ends[0]), viewAt(rack, link.ends[1])] as const;
    return { link, views, judgement: judgeLink(link, views, rack.limitedNodes) };
  });
  return { links: judged, rack, cables: seenCables(rack) };
}

/** The declared link that ends in this receptacle. A valid file has at most one. */
export const linkAt = (links: readonly JudgedLink[], end: LinkEnd): JudgedLink | undefined =>
  links.find(({ link }) => link.ends.some((one) => isSameEnd(one, end)));

export const undeclaredCables = ({ links, cables }: Cabling): readonly SeenCable[] =>
  cables.filter(
    ({ ends }) => !links.some(({ link }) => ends.every((end) => link.ends.some((one) => isSameEnd(one, end)))),
  );

/** A slower cable supports IP but not RDMA. A Thunderbolt 4 cable or receptacle runs at 40 Gb/s. */
export const minimumLinkBitsPerSecond = 80e9;

/**
 * The state of one declared link:
 * `as-declared`: a cable connects its two ends, and macOS reports no speed below 80 Gb/s.
 * `slow`: a cable connects them below 80 Gb/s, because of a Mac or because of the cable.
 * `through-hub`: a cable connects them through a dock or hub.
 * `one-sided`: only one end sees the other.
 * `missing`: no cable is seen at either end, and at least one end is empty.
 * `elsewhere`: something else is plugged in at an end.
 * `no-receptacle`: a Mac has no receptacle with the declared number.
 * `unknown`: an end could not be observed, or something is plugged in at both ends but nothing answers.
 */
export type LinkJudgement =
  | { readonly kind: 'as-declared'; readonly bitsPerSecond?: number }
  | {
      readonly kind: 'slow';
      readonly bitsPerSecond: number;
      /** The nodes at its ends that cannot run faster with any cable; empty if the cable is the cause. */
      readonly limitedBy: readonly NodeName[];
    }
  | { readonly kind: 'through-hub' | 'one-sided' | 'missing' | 'elsewhere' | 'no-receptacle' | 'unknown' };

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
  // If two nodes answer as one Mac, all their buses are ambiguous, and the peer may be the declared end.
  return { kind: isAmbiguous(a) || isAmbiguous(b) ? 'unknown' : 'elsewhere' };
}

/**
 * Compares one declared link with the views of its two ends, in the order of `link.ends`. Swapping both does not change
 * the result. `limitedNodes` are known to have Thunderbolt 4 at most.
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

/** Observations by node name. A node that was not queried is absent. */
type ObservedNodes = Readonly<Record<string, NodeObservation>>;

interface Owners {
  /** The receptacles that own a domain UUID: one, unless two nodes are the same Mac. */
  readonly byDomain: ReadonlyMap<string, readonly LinkEnd[]>;
  /** True if every receptacle of every node was read. Only then is a domain without an owner certainly foreign. */
  readonly isComplete: boolean;
}

const factsOf = (nodes: ObservedNodes, name: NodeName): Facts | undefined =>
  Object.hasOwn(nodes, name) ? nodes[name]?.facts : undefined;

const receptaclesOf = (nodes: ObservedNodes, name: NodeName): readonly ThunderboltReceptacle[] | undefined =>
  readValue(factsOf(nodes, name), thunderboltFact);

const domainKey = (uuid: string): string => uuid.toUpperCase();

function findOwners(names: readonly NodeName[], nodes: ObservedNodes): Owners {
  const byDomain = new Map<string, LinkEnd[]>();
  let isComplete = true;
  for (const node of names) {
    const receptacles = receptaclesOf(nodes, node);
    isComplete &&= receptacles !== undefined;
    for (const { domainUuid, receptacle } of receptacles ?? []) {
      isComplete &&= domainUuid !== undefined;
      if (domainUuid === undefined) continue;
      const key = domainKey(domainUuid);
      byDomain.set(key, [...(byDomain.get(key) ?? []), { node, receptacle }]);
    }
  }
  // If two nodes answer as one Mac, the real Mac of one of them was not observed.
  const isEachMacOnce = [...byDomain.values()].every((owners) => owners.length === 1);
  return { byDomain, isComplete: isComplete && isEachMacOnce };
}

function namesUs(nodes: ObservedNodes, end: LinkEnd, ownDomain: string): boolean {
  const far = receptaclesOf(nodes, end.node)?.find((one) => one.receptacle === end.receptacle);
  return far?.peers.some((one) => domainKey(one.domainUuid) === domainKey(ownDomain)) ?? false;
}

/** @param ownDomain empty if unreadable; then the peer is ambiguous */
function identify(owners: Owners, nodes: ObservedNodes, peer: ThunderboltPeer, ownDomain: string): SeenPeer {
  const { model, hubsBetween } = peer;
  const [owner, ...others] = owners.byDomain.get(domainKey(peer.domainUuid)) ?? [];
  const isOurBusUnique = owners.byDomain.get(domainKey(ownDomain))?.length === 1;
  if (others.length > 0 || !isOurBusUnique) return { kind: 'ambiguous', model, hubsBetween };
  if (owner === undefined) return { kind: owners.isComplete ? 'foreign' : 'unidentified', model, hubsBetween };
  return { kind: 'node', end: owner, hubsBetween, isMutual: namesUs(nodes, owner, ownDomain) };
}

const peerKey = (peer: SeenPeer): string => `${peer.kind} ${peer.kind === 'node' ? linkEndText(peer.end) : peer.model}`;

function viewKind(seen: ThunderboltReceptacle): ReceptacleView['kind'] {
  if (seen.state === 'unknown') return 'unknown';
  if (seen.peers.length > 0) return 'peer';
  if (seen.devices.length > 0) return 'device';
  return seen.state === 'empty' ? 'empty' : 'silent';
}

export interface SeenRack {
  /** Sorted by node name and receptacle number. */
  readonly views: readonly ReceptacleView[];
  /** The nodes with a known Thunderbolt fact, sorted by name. Nothing is claimed about other nodes. */
  readonly seenNodes: readonly NodeName[];
  /** The nodes whose Mac is known not to reach 80 Gb/s, sorted by name. */
  readonly limitedNodes: readonly NodeName[];
}

/**
 * Determines what every receptacle of every observed node sees. The observations show which receptacle owns a peer's
 * domain UUID; interface names never do.
 */
function seeReceptacles(names: readonly NodeName[], nodes: ObservedNodes): SeenRack {
  const owners = findOwners(names, nodes);
  const views = names.flatMap((node) =>
    (receptaclesOf(nodes, node) ?? []).map((seen): ReceptacleView => {
      const identified = seen.peers.map((peer) => identify(owners, nodes, peer, seen.domainUuid ?? ''));
      return {
        at: { node, receptacle: seen.receptacle },
        kind: viewKind(seen),
        ...given({ linkBitsPerSecond: seen.linkBitsPerSecond }),
        peers: identified.toSorted((a, b) => compareText(peerKey(a), peerKey(b))),
        deviceNames: seen.devices.map((one) => one.name),
      };
    }),
  );
  return {
    views: views.toSorted((a, b) => compareEnds(a.at, b.at)),
    seenNodes: names.filter((name) => receptaclesOf(nodes, name) !== undefined).toSorted(),
    limitedNodes: names.filter((name) => lacksThunderbolt5(factsOf(nodes, name))).toSorted(),
  };
}

/** The view of one receptacle: `unknown` if its node was not observed, `absent` if the Mac has no such number. */
export function viewAt(rack: SeenRack, end: LinkEnd): ReceptacleView {
  const found = rack.views.find((view) => isSameEnd(view.at, end));
  const isNodeSeen = rack.seenNodes.includes(end.node);
  return found ?? { at: end, kind: isNodeSeen ? 'absent' : 'unknown', peers: [], deviceNames: [] };
}

const thunderbolt4BitsPerSecond = 40e9;

/** A free receptacle shows its maximum ("Up to 120 Gb/s"), a connected receptacle only the speed of the cable. */
function showsThunderbolt4(receptacles: readonly ThunderboltReceptacle[]): boolean {
  const maxima = receptacles.flatMap(({ maxBitsPerSecond }) => maxBitsPerSecond ?? []);
  const speeds = receptacles.flatMap(({ linkBitsPerSecond }) => linkBitsPerSecond ?? []);
  return maxima.length > 0 && [...maxima, ...speeds].every((speed) => speed <= thunderbolt4BitsPerSecond);
}

/**
 * True if no receptacle of this Mac can reach 80 Gb/s with any cable, according to the table of Macs or the maximum of
 * its free receptacles. A Mac whose receptacles are all in use shows no maximum.
 */
export function lacksThunderbolt5(facts: Facts | undefined): boolean {
  const receptacles = readValue(facts, thunderboltFact) ?? [];
  return neverHasRdma(readValue(facts, hardwareFact)?.model) || showsThunderbolt4(receptacles);
}
