import { firstAddress, isInside, linkText } from '../../desired/addresses.ts';
import { isPoolLeft } from '../../desired/settle/settle-links.ts';
import type { DesiredFleet, Ipv4Network } from '../../model/desired.ts';
import type { DhcpAnswer, Facts, Ipv4Address } from '../../model/facts/fact-values.ts';
import { alike } from '../../model/lists.ts';
import type { LinkEnd } from '../../model/node.ts';
import { nodesSubject, receptacleSubject } from '../../model/subject.ts';
import { meshwright } from '../../model/text/command.ts';
import { namedEnd, type Prose, prose } from '../../model/text/prose.ts';
import { isSameEnd } from '../cabling/receptacle-view.ts';
import { defineNodeRule, defineRule, type Finding, type RuleCodes } from '../define-rule.ts';
import { type Examination, type ExaminedNode, rdmaSeverity } from '../examination.ts';
import { read, readValue } from '../fact.ts';
import { adoptedDaemon } from '../foreign-daemon/reading.ts';
import { dhcpLeasesFact, interfacesFact, routesFact } from '../network/interfaces-fact.ts';
import { interfaceAt, interfaceKind, thunderboltInterfaces } from '../network/interfaces-reading.ts';
import { serviceAddressesFact } from '../network/service-addresses-fact.ts';
import { cableMethod } from '../network/services-reading.ts';
import { declaredAddress } from './reading.ts';

/** The link network that an office network overlaps, in words; undefined if they do not overlap. */
function hitBy({ links, networks }: DesiredFleet['thunderbolt'], { network }: OfficeNetwork): string | undefined {
  const hit = links.find(({ index }) => networks[index] !== undefined && overlaps(networks[index], network));
  const own = hit === undefined ? undefined : networks[hit.index];
  return hit === undefined || own === undefined ? undefined : `${networkText(own)} of ${linkText(hit.ends)}`;
}

const moveOffice = ({ network }: OfficeNetwork, pool: Ipv4Network): string =>
  `Renumber ${networkText(network)}, or replace the pool ${networkText(pool)} in the file: thunderbolt.addressing.pool.`;

/** The texts for an office network inside the pool; undefined if the network does no harm. */
function overlapTexts(
  thunderbolt: DesiredFleet['thunderbolt'],
  pool: Ipv4Network,
  one: OfficeNetwork,
  seen: readonly Ipv4Network[],
) {
  const hit = hitBy(thunderbolt, one);
  if (hit !== undefined)
    return {
      detail: `${hit} overlaps ${one.where}.`,
      hint: `An allocated network is never changed automatically. ${moveOffice(one, pool)}`,
    };
  const isSettled = thunderbolt.links.every(({ index }) => thunderbolt.networks[index] !== undefined);
  return isSettled || isPoolLeft(thunderbolt, seen)
    ? undefined
    : {
        detail: `The pool ${networkText(pool)} overlaps ${one.where} and has too few free networks for all links.`,
        hint: moveOffice(one, pool),
      };
}

/**
 * Office networks, that is, networks on anything but the receptacles, that overlap the address pool and hit a link or
 * leave too few networks for the links. Any other overlap only excludes those networks from allocation.
 */
export const poolOverlap = defineRule(
  {
    'address/pool-overlap': {
      summary: 'The address pool for links overlaps a network that nodes are in or have a route to.',
      cause:
        "An interface other than a Thunderbolt receptacle has an address in a link's network, or a route leads there. Traffic for that network would go over a cable. Or such networks leave too few free networks in thunderbolt.addressing.pool for all links. A new link never gets a network that is in use; allocated networks do not change.",
      hint: 'Choose another pool in the file.',
      role: { blocks: 'link-address' },
      facts: [interfacesFact, routesFact],
    },
  },
  ({ desired, nodes }) => {
    const { thunderbolt } = desired;
    const { pool } = thunderbolt;
    if (pool === undefined) return [];
    const found = nodes.flatMap(({ name, facts }) =>
      officeNetworks(facts)
        .filter(({ network }) => overlaps(pool, network))
        .map((one) => ({ node: name, ...one })),
    );
    const seen = found.map(({ network }) => network);
    return alike(found, ({ where }) => where).flatMap(([first, same]) => {
      const words = overlapTexts(thunderbolt, pool, first, seen);
      const subject = nodesSubject([...new Set(same.map(({ node }) => node))]);
      return words === undefined ? [] : [{ code: 'address/pool-overlap', subject, ...words }];
    });
  },
);

const codes = {
  'address/by-dhcp': {
    summary: 'A cable has an address that can change at any time.',
    cause:
      "The receptacle's network service uses DHCP. This is the macOS default, and macOS sometimes restores it. No DHCP server answers on a cable, so the Mac assigns itself an address minutes after a start, and a different one after each interruption of the link. The RDMA GID changes with the address (works for days, then errno 22).",
    hint: prose`Give it a fixed address with ${meshwright('apply')}.`,
    role: 'converged-by-address',
    facts: [serviceAddressesFact, interfacesFact],
  },
  'address/ipv4-off': {
    summary: 'IPv4 is off on a cable. RDMALink prepares Macs this way, for RDMA over IPv6 only.',
    cause:
      "The receptacle's network service has only IPv6 link-local addresses. MLX's jaccl backend needs the IPv4-mapped GID, which a receptacle without an IPv4 address does not have.",
    hint: prose`Give the cables fixed addresses with ${meshwright('apply')}.`,
    role: { blocks: 'rdma', when: 'rdma-needed-and-addressed' },
    facts: [serviceAddressesFact, interfacesFact],
  },
  'network/default-route-over-cable': {
    summary: 'A Thunderbolt cable has a default route.',
    cause:
      "The Mac at the far end shares its Internet connection, or a person set a router in the receptacle's network service. Traffic to all other networks then goes over the cable.",
    hint: 'Switch Internet Sharing off at the far end: System Settings > General > Sharing.',
    role: 'converged-by-address',
    facts: [routesFact],
  },
  'network/lease-over-cable': {
    severity: 'warning',
    summary: 'A Thunderbolt cable has an address from a DHCP server.',
    cause:
      'The Mac accepted a DHCP lease for the address that it has on this cable (`ipconfig getpacket`). On a cable between two Macs, only Internet Sharing offers leases. The address changes or disappears with Internet Sharing.',
    hint: 'Switch Internet Sharing off at the far end: System Settings > General > Sharing.',
    role: 'converged-by-address',
    facts: [dhcpLeasesFact, interfacesFact],
  },
  'network/suspected-lease': {
    severity: 'warning',
    summary: 'A Thunderbolt cable seems to have an address from a DHCP server.',
    cause:
      "The receptacle's network service uses DHCP, and its address is neither the declared one nor self-assigned. The interface's DHCP packet is unknown, so a person or another program may have set the address. On a cable between two Macs, only Internet Sharing offers leases.",
    hint: 'Switch Internet Sharing off at the far end: System Settings > General > Sharing.',
    role: 'converged-by-address',
    facts: [serviceAddressesFact, interfacesFact],
  },
} satisfies RuleCodes;

type Found = Finding<keyof typeof codes>;

interface Cable {
  readonly node: ExaminedNode;
  readonly receptacle: number;
  readonly device: string;
  /** True if the file wants a fixed address there. */
  readonly isAddressed: boolean;
  /** The address that the file gives this end of its link. It is never a lease, even if the service uses DHCP. */
  readonly declared: string | undefined;
}

/** True if a device's service uses DHCP; undefined if that is unknown. */
function isOnDhcp(desired: DesiredFleet, facts: Facts, device: string): boolean | undefined {
  const method = cableMethod(desired, facts, device);
  return method === 'unknown' ? undefined : method === 'dhcp';
}

const isSelfAssigned = ({ address }: Ipv4Address): boolean => address.startsWith('169.254.');

/** Addresses that neither the Mac nor meshwright chose. The keeper sets the declared address even on a DHCP service. */
const strangeAddresses = ({ node, receptacle, declared }: Cable): readonly Ipv4Address[] =>
  interfaceAt(node.facts, receptacle)?.ipv4.filter((one) => !isSelfAssigned(one) && one.address !== declared) ?? [];

/** The DHCP answer for this interface; undefined if the Mac was not queried about it, or its answer is unknown. */
const dhcpAnswer = (facts: Facts, device: string): DhcpAnswer | undefined =>
  readValue(facts, dhcpLeasesFact)?.find((one) => one.device === device);

interface LeasedAddress {
  readonly own: Ipv4Address;
  readonly server: string;
}

/** The address in the cable's last DHCP packet; undefined if the packet has none or is unknown. */
function leasedAddress(cable: Cable): LeasedAddress | undefined {
  const lease = dhcpAnswer(cable.node.facts, cable.device)?.lease;
  const own = strangeAddresses(cable).find(({ address }) => address === lease?.address);
  return lease === undefined || own === undefined ? undefined : { own, server: lease.server };
}

/** Names the far end only if it has the server's address: all Macs that share their Internet can use the same one. */
function leaseWords(examination: Examination, cable: Cable, { own, server }: LeasedAddress): string {
  const far = examination.nodes.find(({ name }) => name === farNode(examination, cable));
  const isServer = readValue(far?.facts, interfacesFact)?.some(({ ipv4 }) =>
    ipv4.some(({ address }) => address === server),
  );
  const name = isServer === true ? ` (${far?.name})` : '';
  return `was given ${own.address}/${own.prefixLength} by the DHCP server ${server}${name}.`;
}

function farNode({ cabling }: Examination, { node, receptacle }: Cable): string | undefined {
  const isOwn = (end: LinkEnd): boolean => isSameEnd(end, { node: node.name, receptacle });
  return cabling.cables.find(({ ends }) => ends.some(isOwn))?.ends.find((end) => !isOwn(end))?.node;
}

/** A fixed address ends a lease and its route. Otherwise, only the Mac that offers the lease can end it. */
function cure(examination: Examination, cable: Cable): Prose {
  const far = farNode(examination, cable) ?? 'the Mac at the far end';
  const sharing = `off Internet Sharing on ${far}: System Settings > General > Sharing.`;
  return cable.isAddressed
    ? prose`Give it a fixed address with ${meshwright('apply')}. DHCP would bring the problem back, so also switch ${sharing}`
    : `Switch ${sharing}`;
}

/** `has a default route via 192.168.2.1, which is the one in effect.`; undefined without one through this interface. */
function defaultRouteWords(facts: Facts, device: string): string | undefined {
  const found = readValue(facts, routesFact) ?? [];
  const defaults = found.filter((one) => one.device === device && one.destination.prefixLength === 0);
  const [first] = defaults.toSorted((a, b) => Number(a.flags.includes('I')) - Number(b.flags.includes('I')));
  if (first === undefined) return undefined;
  const rank = first.flags.includes('I') ? 'next to those of other interfaces' : 'which is the one in effect';
  return `has a default route via ${first.gateway}, ${rank}.`;
}

function routeFinding(examination: Examination, cable: Cable): Found | undefined {
  const { node, receptacle, device } = cable;
  const route = defaultRouteWords(node.facts, device);
  if (route === undefined) return undefined;
  const end = { node: node.name, receptacle };
  const leased = leasedAddress(cable);
  const origin = leased === undefined ? '' : ` ${device} ${leaseWords(examination, cable, leased)}`;
  return {
    code: 'network/default-route-over-cable',
    subject: receptacleSubject(end),
    detail: prose`${namedEnd(end)} (${device}) ${route}${origin}`,
    hint: cure(examination, cable),
  };
}

/** Bridges of receptacles with a default route, also those that the file keeps. @see dnet issue 66 */
function bridgeRouteFindings({ facts }: ExaminedNode, cables: readonly Cable[]): readonly Found[] {
  const bridges = (readValue(facts, interfacesFact) ?? []).filter(({ members }) =>
    cables.some(({ device }) => members.includes(device)),
  );
  return bridges.flatMap(({ name, members }): readonly Found[] => {
    const route = defaultRouteWords(facts, name);
    if (route === undefined) return [];
    return [
      {
        code: 'network/default-route-over-cable',
        severity: 'warning',
        detail: `${name}, the bridge of ${members.join(', ')}, ${route}`,
        hint: `If the traffic of this Mac should not go over Thunderbolt, move the service of ${name} below Ethernet (System Settings > Network > Set Service Order), or switch off the Internet Sharing that gives this route.`,
      },
    ];
  });
}

/** Reports a lease if the Mac has its packet; if the Mac could not be queried, only the suspicion of a lease. */
function leaseFinding(examination: Examination, cable: Cable): Found | undefined {
  const { node, receptacle, device } = cable;
  const end = { node: node.name, receptacle };
  const about = { subject: receptacleSubject(end), hint: cure(examination, cable) };
  const leased = leasedAddress(cable);
  if (leased !== undefined) {
    const detail = prose`${namedEnd(end)} (${device}) ${leaseWords(examination, cable, leased)}`;
    return { code: 'network/lease-over-cable', ...about, detail };
  }
  const isAsked = dhcpAnswer(node.facts, device) !== undefined;
  const [given] = isAsked || isOnDhcp(examination.desired, node.facts, device) !== true ? [] : strangeAddresses(cable);
  if (given === undefined) return undefined;
  const detail = prose`${namedEnd(end)} (${device}) uses DHCP and has ${given.address}/${given.prefixLength}, which may come from a DHCP server.`;
  return { code: 'network/suspected-lease', ...about, detail };
}

function dhcpFinding(desired: DesiredFleet, { facts }: ExaminedNode, cables: readonly Cable[]): Found | undefined {
  const loose = cables.filter(({ device, isAddressed }) => isAddressed && isOnDhcp(desired, facts, device) === true);
  const words = loose.map((cable) => {
    const { receptacle, device } = cable;
    const [strange] = strangeAddresses(cable);
    const own = strange ?? interfaceAt(facts, receptacle)?.ipv4[0];
    const origin = strange === undefined ? '' : ', which is not from DHCP';
    return `receptacle ${receptacle} (${device}${own === undefined ? '' : `, now ${own.address}${origin}`})`;
  });
  return loose.length === 0 ? undefined : { code: 'address/by-dhcp', detail: `DHCP is on at ${words.join(', ')}.` };
}

/** Cables with IPv4 switched off, reported once per node: those that should have an address, otherwise all. */
function ipv4OffFinding(
  examination: Examination,
  { name, facts }: ExaminedNode,
  cables: readonly Cable[],
): Found | undefined {
  const off = cables.filter(({ device }) => cableMethod(examination.desired, facts, device) === 'off');
  const wanted = off.filter(({ isAddressed }) => isAddressed);
  const shown = wanted.length === 0 ? off : wanted;
  if (shown.length === 0) return undefined;
  const words = shown.map(({ receptacle, device }) => `receptacle ${receptacle} (${device})`);
  const code = 'address/ipv4-off';
  const detail = `IPv4 is off on ${words.join(', ')}, so MLX cannot use RDMA there.`;
  const hint = 'To use these cables, declare their links and thunderbolt.addressing in the file.';
  return wanted.length > 0 ? { code, detail } : { code, detail, severity: rdmaSeverity(examination, [name]), hint };
}

function judge(node: ExaminedNode, examination: Examination): readonly Found[] {
  const { desired } = examination;
  const isOurs = desired.thunderbolt.pool !== undefined && adoptedDaemon(desired, node.facts) === undefined;
  const cables = [...(thunderboltInterfaces(node.facts) ?? [])].map(([receptacle, device]) => ({
    node,
    receptacle,
    device,
    declared: declaredAddress(desired.thunderbolt, { node: node.name, receptacle }),
    isAddressed: isOurs && node.ends.some((end) => end.receptacle === receptacle),
  }));
  const own = cables.map((cable) => routeFinding(examination, cable) ?? leaseFinding(examination, cable));
  const rest = cables.filter((_, at) => own[at] === undefined);
  const bridged = bridgeRouteFindings(node, cables);
  const all = [...own, ...bridged, dhcpFinding(desired, node, rest), ipv4OffFinding(examination, node, cables)];
  return all.filter((one) => one !== undefined);
}

/**
 * Cable addresses that meshwright did not set: a default route or a lease from a peer's Internet Sharing (only a
 * suspicion if the DHCP packet is unknown), and DHCP services although the file gives their cable a fixed address.
 */
export const cableAddresses = defineNodeRule(codes, judge);

/** An office network, that is, a network on anything but the receptacles, as one node sees it. */
export interface OfficeNetwork {
  readonly network: Ipv4Network;
  /** `10.0.0.0/24 of en0`, `the route to 10.0.0.0/8 through utun3`. */
  readonly where: string;
}

/** Shorter prefixes do not count as networks: a VPN for all traffic has a route to each half of the address space. */
const shortestNetwork = 8;

const ofAddresses = (facts: Facts): readonly OfficeNetwork[] =>
  (readValue(facts, interfacesFact) ?? [])
    .filter((one) => interfaceKind(facts, one.name) === 'other')
    .flatMap((one) => one.ipv4.map((network) => ({ network, where: `${networkText(network)} of ${one.name}` })));

/** The networks that the node has a route to, except the networks of its interfaces, which are reported already. */
function ofRoutes(facts: Facts): readonly OfficeNetwork[] {
  const held = readValue(facts, interfacesFact) ?? [];
  const isOwn = (network: Ipv4Network, device: string): boolean =>
    held.some((one) => one.name === device && one.ipv4.some((address) => isInside(network, address)));
  return (readValue(facts, routesFact) ?? [])
    .filter(({ device }) => !/^lo\d/.test(device) && interfaceKind(facts, device) === 'other')
    .filter(({ destination }) => destination.prefixLength >= shortestNetwork)
    .filter(({ destination, device }) => !isOwn(destination, device))
    .map(({ destination: network, device }) => ({
      network,
      where: `the route to ${networkText(network)} through ${device}`,
    }));
}

/**
 * Every network that link addresses could collide with, as this node sees it. Empty while the hardware ports are unknown,
 * because a Thunderbolt receptacle then looks like the office network.
 */
export const officeNetworks = (facts: Facts): readonly OfficeNetwork[] =>
  thunderboltInterfaces(facts) === undefined ? [] : [...ofAddresses(facts), ...ofRoutes(facts)];

/** True if every fact behind {@link officeNetworks} is known; then a network that is not in that list is not in use. */
export const areNetworksSeen = (facts: Facts): boolean =>
  thunderboltInterfaces(facts) !== undefined &&
  read(facts, interfacesFact).kind === 'known' &&
  read(facts, routesFact).kind === 'known';

/** True if two IPv4 networks share an address; host bits are ignored. */
const overlaps = (a: Ipv4Network, b: Ipv4Network): boolean => isInside(a, b) || isInside(b, a);

/** `10.77.0.0/24`, without host bits. */
const networkText = (network: Ipv4Network): string => `${firstAddress(network)}/${network.prefixLength}`;
