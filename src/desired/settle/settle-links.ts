import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import type { ClusterLock } from '../../model/cluster-lock.ts';
import type { DesiredFleet, Ipv4Network } from '../../model/desired.ts';
import { ipv4Number, ipv4Text } from '../../model/ip-address.ts';
import { firstAddress, isInside, linkText, networkSize, networkText, parseIpv4Network } from '../addresses.ts';
import { own } from './settle-trees.ts';

const prefixLength = 30;

/**
 * Gives every declared link a /30 from the pool. A link keeps its network as long as the network is inside the pool. A
 * link that returns gets its former network; new links get the first free networks in file order. Unused networks
 * remain reserved in the lock as former networks until no node has an address in them.
 *
 * @param inUse networks that others use: new links do not get them, but existing links keep theirs
 * @returns the links with their networks, and the matching sections of the lock
 */
export function settleLinks(
  thunderbolt: DesiredFleet['thunderbolt'],
  lock: ClusterLock,
  inUse: readonly Ipv4Network[] = [],
) {
  const { pool } = thunderbolt;
  const names = pool === undefined ? [] : thunderbolt.links.map((link) => linkText(link.ends));
  const { links, left } = allocate(names, { pool: pool ?? noPool, lock, inUse });
  const byIndex = thunderbolt.links.flatMap((link) => {
    const network = links.get(linkText(link.ends));
    return network === undefined ? [] : [[link.index, network] as const];
  });
  const used = new Set([...links.values()].map(networkText));
  const former = Object.entries({ ...lock.formerNetworks, ...networksByText(lock) })
    .filter(([network]) => !used.has(network))
    .sort(([a], [b]) => compareNetworks(a, b));
  return {
    thunderbolt: {
      ...thunderbolt,
      networks: Object.fromEntries(byIndex),
      formerNetworks: former.flatMap(([network]) => parseIpv4Network(network) ?? []),
    },
    links: Object.fromEntries(links),
    formerNetworks: Object.fromEntries(former),
    additions: [...links].flatMap(([name, network]) => addition(name, network, lock)),
    diagnostics: left.length === 0 ? [] : [poolFull(left, former.length)],
  };
}

/** Returns the same links, but only with networks that are already in the lock. */
export function withGivenNetworks(
  thunderbolt: DesiredFleet['thunderbolt'],
  { links }: Pick<ClusterLock, 'links'>,
): DesiredFleet['thunderbolt'] {
  const given = thunderbolt.links.flatMap(({ index, ends }) => {
    const name = linkText(ends);
    const [now, locked] = [thunderbolt.networks[index], own(links, name)];
    const isSame = now !== undefined && locked !== undefined && networkText(now) === networkText(locked);
    return isSame ? [[index, now] as const] : [];
  });
  return { ...thunderbolt, networks: Object.fromEntries(given) };
}

const noPool: Ipv4Network = { address: '0.0.0.0', prefixLength: 32 };

const networksByText = ({ links }: ClusterLock): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(links).map(([name, network]) => [networkText(network), name]));

const compareNetworks = (a: string, b: string): number => numberOf(a) - numberOf(b);
const numberOf = (network: string): number => ipv4Number(network.split('/')[0] ?? '') ?? 0;

interface Supply {
  readonly pool: Ipv4Network;
  readonly lock: ClusterLock;
  readonly inUse: readonly Ipv4Network[];
}

/** Allocates networks to these links. `left` lists the links without a network because the pool is full. */
function allocate(names: readonly string[], supply: Supply) {
  const { lock } = supply;
  const links = new Map<string, Ipv4Network>();
  const left: string[] = [];
  const taken = new Set([...Object.keys(networksByText(lock)), ...Object.keys(lock.formerNetworks)]);
  const next = freeNetworks(supply, (network) => taken.has(networkText(network)));
  for (const name of names) {
    const network = ownNetwork(name, supply) ?? next();
    if (network === undefined) left.push(name);
    else links.set(name, network);
  }
  return { links, left };
}

/** A link's current or former network, if it is inside the pool. A former network must also not be in use. */
function ownNetwork(name: string, { pool, lock, inUse }: Supply): Ipv4Network | undefined {
  const now = own(lock.links, name);
  if (now !== undefined && isInside(now, pool)) return now;
  const once = Object.entries(lock.formerNetworks)
    .filter(([, link]) => link === name)
    .flatMap(([network]) => parseIpv4Network(network) ?? []);
  return once.find((network) => isInside(network, pool) && !inUse.some((one) => meet(one, network)));
}

/** True if two networks overlap, which means that one contains the other. */
const meet = (one: Ipv4Network, other: Ipv4Network): boolean => isInside(one, other) || isInside(other, one);

/** True if the pool has a /30 for every link when these networks are excluded and current assignments are ignored. */
export function isPoolLeft({ pool, links }: DesiredFleet['thunderbolt'], inUse: readonly Ipv4Network[]): boolean {
  const next = pool === undefined ? undefined : freeNetworks({ pool, inUse });
  return links.every(() => next?.() !== undefined);
}

/** Returns a function that returns a pool's next free /30 on each call, and undefined once there are no more. */
function freeNetworks(
  { pool, inUse }: Pick<Supply, 'pool' | 'inUse'>,
  isTaken: (network: Ipv4Network) => boolean = () => false,
): () => Ipv4Network | undefined {
  const size = networkSize(prefixLength);
  const first = ipv4Number(firstAddress(pool)) ?? 0;
  const end = first + networkSize(pool.prefixLength);
  let at = first;
  return () => {
    while (at + size <= end) {
      const network = { address: ipv4Text(at), prefixLength };
      at += size;
      if (!isTaken(network) && !inUse.some((one) => meet(one, network))) return network;
    }
    return undefined;
  };
}

function addition(name: string, network: Ipv4Network, lock: ClusterLock): readonly string[] {
  const before = own(lock.links, name);
  if (before === undefined) return [`link ${name}: ${networkText(network)}`];
  const [was, is] = [networkText(before), networkText(network)];
  return was === is ? [] : [`link ${name}: ${is} instead of ${was}, because the pool changed`];
}

function poolFull(links: readonly string[], former: number): Diagnostic {
  const count = former === 1 ? '1 former network remains' : `${former} former networks remain`;
  const reserved = former === 0 ? '' : ` ${count} reserved until no node has an address there.`;
  return diagnose('lock/pool-full', { detail: `The pool has no network left for ${links.join(', ')}.${reserved}` });
}
