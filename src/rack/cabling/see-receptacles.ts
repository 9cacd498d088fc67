import type { Facts, NodeObservation, ThunderboltPeer, ThunderboltReceptacle } from '../../model/facts/fact-values.ts';
import { given } from '../../model/given.ts';
import { seenValue } from '../../model/known.ts';
import { neverHasRdma } from '../../model/macs.ts';
import { type LinkEnd, linkEndText, type NodeName } from '../../model/node.ts';
import { thunderboltFact } from '../cables/fact.ts';
import { read } from '../fact.ts';
import { hardwareFact } from '../identity/fact.ts';
import { compareEnds, isSameEnd, type ReceptacleView, type SeenPeer } from './receptacle-view.ts';

/** Observations by node name; a node that was never asked is simply not there. */
export type ObservedNodes = Readonly<Record<string, NodeObservation>>;

interface Owners {
  /** Which receptacles say that a domain UUID is theirs: one, unless two nodes are the same Mac. */
  readonly byDomain: ReadonlyMap<string, readonly LinkEnd[]>;
  /** Whether every receptacle of every node was read, so that a domain without an owner is certainly not ours. */
  readonly isComplete: boolean;
}

const receptaclesOf = (nodes: ObservedNodes, name: NodeName): readonly ThunderboltReceptacle[] | undefined => {
  const fact = Object.hasOwn(nodes, name) ? read(nodes[name]?.facts, thunderboltFact) : undefined;
  return seenValue(fact);
};

function isLimited(nodes: ObservedNodes, name: NodeName): boolean {
  const facts = Object.hasOwn(nodes, name) ? nodes[name]?.facts : undefined;
  return facts !== undefined && lacksThunderbolt5(facts);
}

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
  // Two nodes that answer as one Mac leave the Mac of one of them unseen.
  const isEachMacOnce = [...byDomain.values()].every((owners) => owners.length === 1);
  return { byDomain, isComplete: isComplete && isEachMacOnce };
}

interface Sighting {
  readonly peer: ThunderboltPeer;
  /** Absent where it cannot be read: then no peer is seen through it. */
  readonly ownDomain?: string;
}

function namesUs(nodes: ObservedNodes, end: LinkEnd, ownDomain = ''): boolean {
  const far = receptaclesOf(nodes, end.node)?.find((one) => one.receptacle === end.receptacle);
  return far?.peers.some((one) => domainKey(one.domainUuid) === domainKey(ownDomain)) ?? false;
}

function identify(owners: Owners, nodes: ObservedNodes, { peer, ownDomain }: Sighting): SeenPeer {
  const { model, hubsBetween } = peer;
  const [owner, ...others] = owners.byDomain.get(domainKey(peer.domainUuid)) ?? [];
  const isOurBusUnique = owners.byDomain.get(domainKey(ownDomain ?? ''))?.length === 1;
  if (others.length > 0 || !isOurBusUnique) return { kind: 'ambiguous', model, hubsBetween };
  if (owner === undefined) return { kind: owners.isComplete ? 'foreign' : 'unidentified', model, hubsBetween };
  return { kind: 'node', end: owner, hubsBetween, isMutual: namesUs(nodes, owner, ownDomain) };
}

const peerKey = (peer: SeenPeer): string => `${peer.kind} ${peer.kind === 'node' ? linkEndText(peer.end) : peer.model}`;

const comparePeers = (a: SeenPeer, b: SeenPeer): number =>
  peerKey(a) < peerKey(b) ? -1 : Number(peerKey(a) > peerKey(b));

function viewKind(seen: ThunderboltReceptacle): ReceptacleView['kind'] {
  if (seen.state === 'unknown') return 'unknown';
  if (seen.peers.length > 0) return 'peer';
  if (seen.devices.length > 0) return 'device';
  return seen.state === 'empty' ? 'empty' : 'silent';
}

/** Everything that is seen on the receptacles of the fleet. */
export interface SeenRack {
  /** Sorted by node name and receptacle number. */
  readonly views: readonly ReceptacleView[];
  /** The nodes whose Thunderbolt fact is known, sorted by name; nothing is claimed about any other. */
  readonly seenNodes: readonly NodeName[];
  /** Those of which it is known that their Mac cannot do 80 Gb/s, sorted by name. */
  readonly limitedNodes: readonly NodeName[];
}

/**
 * What every receptacle of every looked-at node shows. Which receptacle a peer's domain UUID belongs to comes from
 * the observations themselves, never from an interface name.
 */
export function seeReceptacles(names: readonly NodeName[], nodes: ObservedNodes): SeenRack {
  const owners = findOwners(names, nodes);
  const views = names.flatMap((node) =>
    (receptaclesOf(nodes, node) ?? []).map((seen): ReceptacleView => {
      const identified = seen.peers.map((peer) =>
        identify(owners, nodes, { peer, ...(seen.domainUuid !== undefined && { ownDomain: seen.domainUuid }) }),
      );
      return {
        at: { node, receptacle: seen.receptacle },
        kind: viewKind(seen),
        ...given({ linkBitsPerSecond: seen.linkBitsPerSecond }),
        peers: identified.toSorted(comparePeers),
        deviceNames: seen.devices.map((one) => one.name),
      };
    }),
  );
  return {
    views: views.toSorted((a, b) => compareEnds(a.at, b.at)),
    seenNodes: names.filter((name) => receptaclesOf(nodes, name) !== undefined).toSorted(),
    limitedNodes: names.filter((name) => isLimited(nodes, name)).toSorted(),
  };
}

/** The view of one receptacle: `unknown` when its node was not looked at, `absent` when the Mac has none of that number. */
export function viewAt(rack: SeenRack, end: LinkEnd): ReceptacleView {
  const found = rack.views.find((view) => isSameEnd(view.at, end));
  const isNodeSeen = rack.seenNodes.includes(end.node);
  return found ?? { at: end, kind: isNodeSeen ? 'absent' : 'unknown', peers: [], deviceNames: [] };
}

const thunderbolt4BitsPerSecond = 40e9;

/** A free receptacle says what it could do ("Up to 120 Gb/s"); a connected one only what the cable does. */
function showsThunderbolt4(receptacles: readonly ThunderboltReceptacle[]): boolean {
  const maxima = receptacles.flatMap(({ maxBitsPerSecond }) =>
    maxBitsPerSecond === undefined ? [] : [maxBitsPerSecond],
  );
  const speeds = receptacles.flatMap(({ linkBitsPerSecond }) =>
    linkBitsPerSecond === undefined ? [] : [linkBitsPerSecond],
  );
  return maxima.length > 0 && [...maxima, ...speeds].every((speed) => speed <= thunderbolt4BitsPerSecond);
}

/**
 * Whether it is known that no receptacle of this Mac can do 80 Gb/s, whatever cable is in it: from the table of Macs, or
 * from what free receptacles can do at most. A Mac whose receptacles are all in use shows no maximum.
 */
export function lacksThunderbolt5(facts: Facts): boolean {
  const hardware = read(facts, hardwareFact);
  const thunderbolt = read(facts, thunderboltFact);
  const isListed = hardware.kind === 'known' && neverHasRdma(hardware.value.model);
  return isListed || (thunderbolt.kind === 'known' && showsThunderbolt4(thunderbolt.value));
}
