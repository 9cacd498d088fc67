import { given } from '../../model/given.ts';
import { type InterfaceAddress, type MacState, peerAt, type ReceptacleState, type SimulatedFleet } from './fleet.ts';
import { dottedMask, maskLength } from './ip-text.ts';
import { dictAt, type PlistDict, valueAt, withValue } from './plist.ts';
import { seededUuid } from './seed.ts';

/** The network preferences of macOS. */
export const preferencesPath = '/Library/Preferences/SystemConfiguration/preferences.plist';

/** How a network service gets its IPv4 address. */
type ServiceIpv4 =
  | { readonly kind: 'manual'; readonly address: string; readonly prefixLength: number; readonly router?: string }
  | { readonly kind: 'dhcp' | 'off' };

/** One network service of the preferences. */
export interface NetworkService {
  readonly uuid: string;
  readonly name: string;
  /** What macOS calls the network port. */
  readonly port: string;
  readonly device: string;
  readonly isEnabled: boolean;
  readonly ipv4: ServiceIpv4;
}

const textAt = (dict: PlistDict, ...path: readonly string[]): string => {
  const text = valueAt(dict, path);
  return typeof text === 'string' ? text : '';
};
const textsAt = (dict: PlistDict, ...path: readonly string[]): readonly string[] => {
  const list = valueAt(dict, path);
  return Array.isArray(list) ? list.filter((one) => typeof one === 'string') : [];
};

function ipv4Of(ipv4: PlistDict): ServiceIpv4 {
  if (ipv4['__INACTIVE__'] === 1) return { kind: 'off' };
  const [address] = textsAt(ipv4, 'Addresses');
  const prefixLength = maskLength(textsAt(ipv4, 'SubnetMasks')[0] ?? '');
  if (textAt(ipv4, 'ConfigMethod') !== 'Manual' || address === undefined || prefixLength === undefined) {
    return { kind: 'dhcp' };
  }
  const router = textAt(ipv4, 'Router');
  return { kind: 'manual', address, prefixLength, ...(router === '' ? {} : { router }) };
}

const serviceOf = (uuid: string, entry: PlistDict): NetworkService => ({
  uuid,
  name: textAt(entry, 'UserDefinedName'),
  port: textAt(entry, 'Interface', 'UserDefinedName'),
  device: textAt(entry, 'Interface', 'DeviceName'),
  isEnabled: entry['__INACTIVE__'] !== 1,
  ipv4: ipv4Of(dictAt(entry, 'IPv4')),
});

/** `/Sets/UUID` without its head. */
const currentSet = (preferences: PlistDict): string => textAt(preferences, 'CurrentSet').replace(/^\/Sets\//, '');

/** The services in the order in which macOS tries them; those that no order names come last. */
export function servicesIn(preferences: PlistDict): readonly NetworkService[] {
  const entries = dictAt(preferences, 'NetworkServices');
  const order = textsAt(preferences, 'Sets', currentSet(preferences), 'Network', 'Global', 'IPv4', 'ServiceOrder');
  const uuids = [
    ...order.filter((uuid) => uuid in entries),
    ...Object.keys(entries).filter((one) => !order.includes(one)),
  ];
  return uuids.map((uuid) => serviceOf(uuid, dictAt(entries, uuid)));
}

const bridgePath = ['VirtualNetworkInterfaces', 'Bridge', 'bridge0'];

/** The members of the Thunderbolt Bridge as the preferences have it; undefined when they have none. */
export function bridgeIn(preferences: PlistDict): readonly string[] | undefined {
  const isThere = valueAt(preferences, bridgePath) !== undefined;
  return isThere ? textsAt(preferences, ...bridgePath, 'Interfaces') : undefined;
}

function ipv4Entry(ipv4: ServiceIpv4): PlistDict {
  if (ipv4.kind !== 'manual') return { ConfigMethod: 'DHCP', ...(ipv4.kind === 'off' ? { __INACTIVE__: 1 } : {}) };
  return {
    Addresses: [ipv4.address],
    ConfigMethod: 'Manual',
    ...given({ Router: ipv4.router }),
    SubnetMasks: [dottedMask(ipv4.prefixLength)],
  };
}

function serviceEntry(service: NetworkService): PlistDict {
  return {
    ...(service.isEnabled ? {} : { __INACTIVE__: 1 }),
    IPv4: ipv4Entry(service.ipv4),
    IPv6: { ConfigMethod: 'Automatic' },
    Interface: {
      DeviceName: service.device,
      Hardware: service.port === 'Wi-Fi' ? 'AirPort' : 'Ethernet',
      Type: 'Ethernet',
      UserDefinedName: service.port,
    },
    UserDefinedName: service.name,
  };
}

/** The preferences with this service in them: in the place of the one with its UUID, or as the last. */
export function withService(preferences: PlistDict, service: NetworkService): PlistDict {
  const kept = servicesIn(preferences).map(({ uuid }) => uuid);
  const order = kept.includes(service.uuid) ? kept : [...kept, service.uuid];
  return withOrder(withValue(preferences, ['NetworkServices', service.uuid], serviceEntry(service)), order);
}

/** The preferences without this service. */
export function withoutService(preferences: PlistDict, { uuid }: NetworkService): PlistDict {
  const { [uuid]: _, ...entries } = dictAt(preferences, 'NetworkServices');
  const order = servicesIn(preferences).flatMap((one) => (one.uuid === uuid ? [] : [one.uuid]));
  return withOrder({ ...preferences, NetworkServices: entries }, order);
}

/** The preferences with the services in this order of their UUIDs. */
export const withOrder = (preferences: PlistDict, order: readonly string[]): PlistDict =>
  withValue(preferences, ['Sets', currentSet(preferences), 'Network', 'Global'], { IPv4: { ServiceOrder: order } });

/** The preferences with the Thunderbolt Bridge of these members. */
export const withBridge = (preferences: PlistDict, members: readonly string[]): PlistDict =>
  withValue(preferences, bridgePath, { Interfaces: members, Options: { __AUTO__: 'thunderbolt-bridge' } });

/** Preferences without any service; `set` is the UUID of the one location. */
export const emptyPreferences = (name: string, set: string): PlistDict => ({
  CurrentSet: `/Sets/${set}`,
  NetworkServices: {},
  Sets: { [set]: { Network: { Global: { IPv4: { ServiceOrder: [] } } }, UserDefinedName: 'Automatic' } },
  System: {
    Network: { HostNames: { LocalHostName: name } },
    System: { ComputerName: name, ComputerNameEncoding: 0 },
  },
});

/** What a Mac is called, for three purposes. */
export type NameKey = 'ComputerName' | 'LocalHostName' | 'HostName';

const pathOf = (key: NameKey): readonly string[] =>
  key === 'LocalHostName' ? ['System', 'Network', 'HostNames', key] : ['System', 'System', key];

/** One name of the Mac as the preferences have it; undefined when it is not set. */
export const nameIn = (preferences: PlistDict, key: NameKey): string | undefined =>
  textAt(preferences, ...pathOf(key)) || undefined;

/** The preferences with this name in them; an empty one counts as none. */
export const withName = (preferences: PlistDict, key: NameKey, name: string): PlistDict =>
  withValue(preferences, pathOf(key), name);

/** What macOS calls the bridge as a port and as a service. */
export const bridgePort = 'Thunderbolt Bridge';

/** The UUID of a network service: stable for the Mac and the name. */
export const serviceUuid = (hardwareUuid: string, name: string): string => seededUuid([hardwareUuid, 'service', name]);

/** A network service as macOS makes it for a port. */
export function newService(hardwareUuid: string, name: string, port: string, device: string): NetworkService {
  return { uuid: serviceUuid(hardwareUuid, name), name, port, device, isEnabled: true, ipv4: { kind: 'dhcp' } };
}

/** Whether something answers at the far end of this receptacle's cable. */
export const isCabled = (fleet: SimulatedFleet, mac: MacState, receptacle: ReceptacleState): boolean =>
  peerAt(fleet, { node: mac.name, receptacle: receptacle.number }) !== undefined;

/** Whether this interface is a member of the bridge at this moment. */
export const isBridged = (mac: MacState, device: string): boolean => mac.live.bridge?.includes(device) === true;

/** The service that gives an interface its address: the first of those that are on. */
const serviceFor = (mac: MacState, device: string): NetworkService | undefined =>
  servicesIn(mac.preferences).find((service) => service.device === device && service.isEnabled);

/**
 * The IPv4 address that the interface of a receptacle has at this moment: none without a cable or a service, none
 * while it is a member of the bridge (a bridged member holds no address, Apple TN3205).
 */
export function liveAddress(
  fleet: SimulatedFleet,
  mac: MacState,
  receptacle: ReceptacleState,
): InterfaceAddress | undefined {
  const { device, selfAssigned } = receptacle;
  const live = Object.hasOwn(mac.live.addresses, device) ? mac.live.addresses[device] : undefined;
  if (isBridged(mac, device) || live === 'none') return undefined;
  if (live !== undefined) return live;
  const service = serviceFor(mac, device);
  if (service === undefined || service.ipv4.kind === 'off' || !isCabled(fleet, mac, receptacle)) return undefined;
  if (service.ipv4.kind === 'manual') return service.ipv4;
  return leaseOver(fleet, mac, receptacle) ?? { address: selfAssigned, prefixLength: 16 };
}

/** What Internet Sharing calls itself in the network that it gives to others (192.168.2.0/24 unless somebody moved it). */
const sharingRouter = '192.168.2.1';

/** The lease that a Mac whose Internet Sharing is on gives to the far end of one of its cables. */
function leaseOver(fleet: SimulatedFleet, mac: MacState, receptacle: ReceptacleState): InterfaceAddress | undefined {
  const peer = peerAt(fleet, { node: mac.name, receptacle: receptacle.number });
  if (peer?.mac.ailments.isSharingInternet !== true) return undefined;
  return { address: `192.168.2.${1 + receptacle.number}`, prefixLength: 24 };
}

/** What a DHCP server told an interface. */
export interface DhcpReply {
  readonly address: string;
  readonly server: string;
  /** What the server calls itself. */
  readonly serverName: string;
}

/**
 * The lease of the interface of a receptacle: whatever address `ifconfig` has set on it since, as long as its service
 * is on DHCP and the far end answers.
 */
export function dhcpReply(fleet: SimulatedFleet, mac: MacState, receptacle: ReceptacleState): DhcpReply | undefined {
  const lease = leaseOver(fleet, mac, receptacle);
  const peer = peerAt(fleet, { node: mac.name, receptacle: receptacle.number });
  const isOnDhcp = serviceFor(mac, receptacle.device)?.ipv4.kind === 'dhcp' && !isBridged(mac, receptacle.device);
  if (lease === undefined || peer === undefined || !isOnDhcp) return undefined;
  return { address: lease.address, server: sharingRouter, serverName: peer.mac.name };
}

/**
 * The router that the interface of a receptacle has at this moment: that of a peer's Internet Sharing, or the one of a
 * fixed address. Seen on an M3 Ultra: such a cable then has a default route.
 */
export function routerOver(fleet: SimulatedFleet, mac: MacState, receptacle: ReceptacleState): string | undefined {
  const address = liveAddress(fleet, mac, receptacle);
  if (address === undefined) return undefined;
  const service = serviceFor(mac, receptacle.device);
  if (service?.ipv4.kind === 'manual') return service.ipv4.router;
  const lease = leaseOver(fleet, mac, receptacle);
  return lease?.address === address.address ? sharingRouter : undefined;
}

/** The address that macOS gives the Thunderbolt Bridge by itself, once one of its members has a cable. */
export function bridgeAddress(fleet: SimulatedFleet, mac: MacState): InterfaceAddress | undefined {
  const [first] = mac.receptacles;
  const isActive = mac.receptacles.some((one) => isBridged(mac, one.device) && isCabled(fleet, mac, one));
  if (first === undefined || !isActive || serviceFor(mac, 'bridge0') === undefined) return undefined;
  return { address: `169.254.${domainOctet(first, 0)}.${domainOctet(first, 2)}`, prefixLength: 16 };
}

/** An octet from 1 to 254 that stays the same for the Mac. */
const domainOctet = ({ domainUuid }: ReceptacleState, at: number): number =>
  1 + (Number.parseInt(domainUuid.slice(at, at + 2), 16) % 254);

/** A network service with the receptacle that it belongs to, if it belongs to one. */
export interface ServiceState extends NetworkService {
  readonly receptacle?: ReceptacleState;
}

/** The network services of a Mac, in the order in which macOS tries them. */
export const servicesOf = (mac: MacState): readonly ServiceState[] =>
  servicesIn(mac.preferences).map((service) => {
    const receptacle = mac.receptacles.find(({ device }) => device === service.device);
    return { ...service, ...given({ receptacle }) };
  });

/** The network service of the Thunderbolt Bridge. */
export const bridgeService = (mac: MacState): NetworkService | undefined =>
  servicesIn(mac.preferences).find(({ device }) => device === 'bridge0');

/** The Mac with the Thunderbolt Bridge in the interfaces and in the preferences; its service stays as it is. */
export function withBridgeInterface(mac: MacState): MacState {
  const members = mac.receptacles.map(({ device }) => device);
  return { ...mac, live: { ...mac.live, bridge: members }, preferences: withBridge(mac.preferences, members) };
}

/** The Mac with the Thunderbolt Bridge in all three layers. */
export function withWholeBridge(mac: MacState): MacState {
  const service = bridgeService(mac) ?? newService(mac.hardwareUuid, bridgePort, bridgePort, 'bridge0');
  const bridged = withBridgeInterface(mac);
  return { ...bridged, preferences: withService(bridged.preferences, { ...service, isEnabled: true }) };
}
