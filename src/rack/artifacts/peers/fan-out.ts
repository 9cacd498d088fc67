import { endAddresses } from '../../../desired/addresses.ts';
import type { DesiredFleet } from '../../../model/desired.ts';
import type { Digest } from '../../../model/digest.ts';
import type { LinkEnd, NodeName } from '../../../model/node.ts';
import type { PeerPlan } from '../../../model/node-script.ts';
import type { JudgedLink } from '../../cabling/judge-cabling.ts';
import { loopback } from './peer-scripts.ts';

/** The Macs of one exchange, and where their bytes come from. */
export interface FanOutRequest {
  readonly digest: Digest;
  readonly receivers: readonly NodeName[];
  /** The Macs that have it. */
  readonly seeds: readonly NodeName[];
  /** The receivers, the best one to download the model first. */
  readonly downloaders: readonly NodeName[];
  readonly account?: string;
  /** Set if the bytes must be encrypted. */
  readonly isPrivate?: true;
}

/** A cable from a Mac: its own address and the other Mac's. */
interface Cable {
  readonly own: string;
  readonly to: NodeName;
  readonly address: string;
}

export const usesCables = ({ listen, sources }: PeerPlan): boolean =>
  sources.some(({ address }) => address !== undefined) || listen.some((address) => address !== loopback);

type Wired = { readonly thunderbolt: Pick<DesiredFleet['thunderbolt'], 'networks' | 'measured'> };
type JudgedLinks = readonly Pick<JudgedLink, 'link' | 'judgement'>[];

/** The ports are below those of ranks; an exchange of another model almost always has a different port. */
const firstPort = 12_288;
const peerPort = (digest: Digest): number => firstPort + (Number.parseInt(digest.slice(0, 4), 16) % 4_096);

/** The cables between Macs of the exchange: those that are where the file has them, have a network, and are not dead. */
function cablesFrom({ thunderbolt }: Wired, links: JudgedLinks): (node: NodeName) => readonly Cable[] {
  const { networks, measured = {} } = thunderbolt;
  const cables = links.flatMap(({ link, judgement }) => {
    const network = networks[link.index];
    const isInPlace = judgement.kind === 'as-declared' || judgement.kind === 'slow';
    const isUsable = isInPlace && measured[link.index]?.carries !== 'nothing';
    return network === undefined || !isUsable ? [] : [endAddresses(link.ends, network)];
  });
  const far = (ends: (typeof cables)[number], end: LinkEnd) => ends.find((one) => one.end !== end);
  return (node) =>
    cables.flatMap((ends): readonly Cable[] => {
      const own = ends.find(({ end }) => end.node === node);
      const other = own && far(ends, own.end);
      return own && other ? [{ own: own.address, to: other.end.node, address: other.address }] : [];
    });
}

/** The Macs that are cabled to each other, directly or through others of them. */
function groupsOf(nodes: readonly NodeName[], cables: (node: NodeName) => readonly Cable[]): readonly NodeName[][] {
  const left = new Set(nodes);
  const groups: NodeName[][] = [];
  for (const first of nodes) {
    if (!left.delete(first)) continue;
    const group = [first];
    for (const node of group) group.push(...cables(node).flatMap(({ to }) => (left.delete(to) ? [to] : [])));
    groups.push(group);
  }
  return groups;
}

/** Macs that get the model over the cables between them, from the first Macs that have it or get it from elsewhere. */
interface Group {
  readonly nodes: readonly NodeName[];
  readonly origins: readonly NodeName[];
  /** Those that get it from others of the group. */
  readonly taking: readonly NodeName[];
}

/**
 * How Macs get a model from each other. In each group of cabled Macs, those that have the model serve it; if there are
 * none, one Mac gets it first and serves what has arrived. In one group, that Mac gets it from its source if no Mac has it.
 * In each further group, it gets the model over Ethernet, through SSH: in a chain, because a Mac has one network
 * interface for all others. Over cables, the bytes of a public model are not encrypted.
 *
 * Each cable carries different chunks at the same time: the Macs that are cabled to an origin get different parts from
 * it and pass them on, so a full mesh is limited by the sum of its cables and not by one of them.
 */
export function fanOut(fleet: Wired, links: JudgedLinks, request: FanOutRequest): ReadonlyMap<NodeName, PeerPlan> {
  const { receivers, seeds, downloaders } = request;
  const cables = cablesFrom(fleet, links);
  const groups = groupsOf([...receivers, ...seeds], cables).map((nodes): Group => {
    const having = seeds.filter((one) => nodes.includes(one));
    const origins = having.length > 0 ? having : downloaders.filter((one) => nodes.includes(one)).slice(0, 1);
    return { nodes, origins, taking: nodes.filter((one) => receivers.includes(one) && !origins.includes(one)) };
  });
  const chain = chainOf(groups, request);
  const plans = new Map<NodeName, PeerPlan>();
  for (const group of groups) {
    for (const self of group.nodes) {
      const plan = planFor(self, group, { chain, cables, request });
      if (plan.sources.length + plan.feeds.length > 0) plans.set(self, plan);
    }
  }
  return plans;
}

/** The first Macs of all groups that exchange over Ethernet, beginning with one that has the model or downloads it. */
function chainOf(groups: readonly Group[], { seeds, downloaders }: FanOutRequest): readonly NodeName[] {
  const isFed = ({ origins }: Group): boolean => origins.some((one) => seeds.includes(one));
  const first = groups.find(isFed) ?? groups.find(({ origins }) => origins.some((one) => one === downloaders[0]));
  const further = groups.filter((one) => one !== first && !isFed(one));
  return first === undefined ? [] : [first, ...further].flatMap(({ origins }) => origins.slice(0, 1));
}

/** The Macs before one in the chain, the nearest first: two that may take each other's place, and the first of all. */
function before(self: NodeName, chain: readonly NodeName[]): readonly NodeName[] {
  const at = chain.indexOf(self);
  return at < 1 ? [] : [...new Set([...chain.slice(Math.max(0, at - 2), at).toReversed(), ...chain.slice(0, 1)])];
}

interface Surroundings {
  readonly chain: readonly NodeName[];
  readonly cables: (node: NodeName) => readonly Cable[];
  readonly request: FanOutRequest;
}

function planFor(self: NodeName, group: Group, { chain, cables, request }: Surroundings): PeerPlan {
  const { origins, taking } = group;
  const { account, isPrivate } = request;
  const own = cables(self).filter(({ to }) => group.nodes.includes(to));
  const near = taking.filter((one) => cables(one).some(({ to }) => origins.includes(to)));
  const isOrigin = origins.includes(self);
  const earlier = before(self, chain);
  const later = chain.filter((other) => before(other, chain).includes(self));
  const cabled = [...new Set(own.map(({ to }) => to))].filter((to) => taking.includes(to));
  const isTunnelled = later.length > 0 || (isPrivate === true && cabled.length > 0);
  const overSsh = isPrivate === true ? { isOverSsh: true as const } : {};
  const stripe = isOrigin
    ? { at: Math.max(0, chain.indexOf(self)), of: Math.max(1, chain.length) }
    : { at: Math.max(0, near.indexOf(self)), of: near.includes(self) ? near.length : 1 };
  return {
    self,
    role: isOrigin && earlier.length === 0 ? 'serve' : 'receive',
    mode: earlier.length === 0 ? 'mesh' : 'chain',
    ...(account === undefined ? {} : { account }),
    port: peerPort(request.digest),
    stripe: earlier.length === 0 && isOrigin ? { at: 0, of: 1 } : stripe,
    listen: [...(isPrivate === true ? [] : own.map((one) => one.own)), ...(isTunnelled ? [loopback] : [])],
    sources: isOrigin
      ? earlier.map((node) => ({ node, isOrigin: node === chain[0], isOverSsh: true }))
      : own.map(({ to, address }) => ({ node: to, address, isOrigin: origins.includes(to), ...overSsh })),
    feeds: [...new Set([...cabled, ...later])],
  };
}
