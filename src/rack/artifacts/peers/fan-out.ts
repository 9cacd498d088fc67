import { endAddresses } from '../../../desired/addresses.ts';
import type { DesiredFleet } from '../../../model/desired.ts';
import type { Digest } from '../../../model/digest.ts';
import type { LinkEnd, NodeName } from '../../../model/node.ts';
import type { PeerPlan } from '../../../model/node-script.ts';
import type { JudgedLink } from '../../cabling/judge-cabling.ts';

/** The Macs of one exchange, and where their bytes come from. */
export interface FanOutWish {
  readonly digest: Digest;
  /** The Macs that get the model. */
  readonly receivers: readonly NodeName[];
  /** The Macs that have it. */
  readonly seeds: readonly NodeName[];
  /** The same Macs, the best one to download the model first. */
  readonly downloaders: readonly NodeName[];
  readonly account?: string;
}

/** A cable from a Mac: its own address and the other Mac's. */
interface Cable {
  readonly own: string;
  readonly to: NodeName;
  readonly address: string;
}

type Wired = { readonly thunderbolt: Pick<DesiredFleet['thunderbolt'], 'networks'> };
type JudgedLinks = readonly Pick<JudgedLink, 'link' | 'judgement'>[];

/** The ports are below those of ranks; an exchange of another model almost always has a different port. */
const firstPort = 12_288;
const peerPort = (digest: Digest): number => firstPort + (Number.parseInt(digest.slice(0, 4), 16) % 4_096);

/** The cables between Macs of the exchange: those that are where the file has them, and have a network. */
function cablesFrom({ thunderbolt }: Wired, links: JudgedLinks): (node: NodeName) => readonly Cable[] {
  const cables = links.flatMap(({ link, judgement }) => {
    const network = thunderbolt.networks[link.index];
    const isUsable = judgement.kind === 'as-declared' || judgement.kind === 'slow';
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

/**
 * How Macs get a model from each other over their cables. In each group of cabled Macs, those that have the model serve
 * it; if there are none, one Mac downloads it and serves what has arrived. Macs without a cable to others are left out.
 *
 * Each cable carries different chunks at the same time: the Macs that are cabled to an origin get different parts from
 * it and pass them on, so a full mesh is limited by the sum of its cables and not by one of them.
 */
export function fanOut(fleet: Wired, links: JudgedLinks, wish: FanOutWish): ReadonlyMap<NodeName, PeerPlan> {
  const { receivers, seeds, downloaders, account } = wish;
  const cables = cablesFrom(fleet, links);
  const plans = new Map<NodeName, PeerPlan>();
  for (const group of groupsOf([...receivers, ...seeds], cables)) {
    const wanting = receivers.filter((one) => group.includes(one));
    const having = seeds.filter((one) => group.includes(one));
    const downloader = downloaders.find((one) => group.includes(one));
    if (downloader === undefined || group.length < 2) continue;
    const origins = having.length > 0 ? having : [downloader];
    const taking = wanting.filter((one) => !origins.includes(one));
    const near = taking.filter((one) => cables(one).some(({ to }) => origins.includes(to)));
    for (const self of group) {
      const own = cables(self).filter(({ to }) => group.includes(to));
      const isOrigin = origins.includes(self);
      plans.set(self, {
        self,
        role: isOrigin ? 'serve' : 'receive',
        mode: 'mesh',
        ...(account === undefined ? {} : { account }),
        port: peerPort(wish.digest),
        stripe: { at: Math.max(0, near.indexOf(self)), of: near.includes(self) ? near.length : 1 },
        listen: own.map((one) => one.own),
        sources: isOrigin ? [] : own.map(({ to, address }) => ({ node: to, address, isOrigin: origins.includes(to) })),
        feeds: [...new Set(own.map(({ to }) => to))].filter((to) => taking.includes(to)),
      });
    }
  }
  return plans;
}
