import { given } from '../../model/given.ts';
import {
  carrierAt,
  type InterfaceAddress,
  type MacState,
  peerAt,
  type ReceptacleState,
  type SimulatedFleet,
} from './fleet.ts';
import { dottedMask, maskLength } from './ip-text.ts';
import { dictAt, type PlistDict, valueAt, withValue } from './plist.ts';
import { seededUuid } from './seed.ts';

export const preferencesPath = '/Library/Preferences/SystemConfiguration/preferences.plist';

type ServiceIpv4 =
  | { readonly kind: 'manual'; readonly address: string; readonly prefixLength: number; readonly router?: string }
  | { readonly kind: 'dhcp' | 'off' };

export interface ServiceState {
  readonly uuid: string;
  readonly name: string;
  /** macOS's name for the network port. */
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

const serviceOf = (uuid: string, entry: PlistDict): ServiceState => ({
  uuid,
  name: textAt(entry, 'UserDefinedName'),
  port: textAt(entry, 'Interface', 'UserDefinedName'),
  device: textAt(entry, 'Interface', 'DeviceName'),
  isEnabled: entry['__INACTIVE__'] !== 1,
  ipv4: ipv4Of(dictAt(entry, 'IPv4')),
});

/** `/Sets/UUID` without its prefix. */
const currentSet = (preferences: PlistDict): string => textAt(preferences, 'CurrentSet').replace(/^\/Sets\//, '');

/** The services in macOS's order. Services that are missing in that order are last. */
export function servicesIn(preferences: PlistDict): readonly ServiceState[] {
  const entries = dictAt(preferences, 'NetworkServices');
  const order = textsAt(preferences, 'Sets', currentSet(preferences), 'Network', 'Global', 'IPv4', 'ServiceOrder');
  const uuids = new Set([...order.filter((uuid) => uuid in entries), ...Object.keys(entries)]);
  return [...uuids].map((uuid) => serviceOf(uuid, dictAt(entries, uuid)));
}

const bridgePath = ['VirtualNetworkInterfaces', 'Bridge', 'bridge0'];

/** The Thunderbolt Bridge's members in the preferences; undefined without a bridge. */
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

function serviceEntry(service: ServiceState): PlistDict {
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

/** Adds this service to the preferences: it replaces a service with the same UUID, or becomes the last one. */
export function withService(preferences: PlistDict, service: ServiceState): PlistDict {
  const uuids = servicesIn(preferences).map(({ uuid }) => uuid);
  const order = uuids.includes(service.uuid) ? uuids : [...uuids, service.uuid];
  return withOrder(withValue(preferences, ['NetworkServices', service.uuid], serviceEntry(service)), order);
}

export function withoutService(preferences: PlistDict, { uuid }: ServiceState): PlistDict {
  const { [uuid]: _, ...entries } = dictAt(preferences, 'NetworkServices');
  const order = servicesIn(preferences).flatMap((one) => (one.uuid === uuid ? [] : [one.uuid]));
  return withOrder({ ...preferences, NetworkServices: entries }, order);
}

export const withOrder = (preferences: PlistDict, order: readonly string[]): PlistDict =>
  withValue(preferences, ['Sets', currentSet(preferences), 'Network', 'Global'], { IPv4: { ServiceOrder: order } });

export const withBridge = (preferences: PlistDict, members: readonly string[]): PlistDict =>
  withValue(preferences, bridgePath, { Interfaces: members, Options: { __AUTO__: 'thunderbolt-bridge' } });

/** Preferences without services; `set` is the UUID of the only location. */
export const emptyPreferences = (name: string, set: string): PlistDict => ({
  CurrentSet: `/Sets/${set}`,
  NetworkServices: {},
  Sets: { [set]: { Network: { Global: { IPv4: { ServiceOrder: [] } } }, UserDefinedName: 'Automatic' } },
  System: { Network: { HostNames: { LocalHostName: name } }, System: { ComputerName: name, ComputerNameEncoding: 0 } },
});

export const nameKeys = ['ComputerName', 'LocalHostName', 'HostName'] as const;

export type NameKey = (typeof nameKeys)[number];

const pathOf = (key: NameKey): readonly string[] =>
  key === 'LocalHostName' ? ['System', 'Network', 'HostNames', key] : ['System', 'System', key];

/** A name in the preferences; undefined if not set. */
export const nameIn = (preferences: PlistDict, key: NameKey): string | undefined =>
  textAt(preferences, ...pathOf(key)) || undefined;

/** Sets a name in the preferences; an empty name counts as not set. */
export const withName = (preferences: PlistDict, key: NameKey, name: string): PlistDict =>
  withValue(preferences, pathOf(key), name);

/** macOS's name for the bridge's port and service. */
export const bridgePort = 'Thunderbolt Bridge';

/** The UUID of a network service, derived from the Mac and the name. */
export const serviceUuid = (hardwareUuid: string, name: string): string => seededUuid([hardwareUuid, 'service', name]);

/** A network service as macOS creates it for a port. */
export function newService(hardwareUuid: string, name: string, port: string, device: string): ServiceState {
  return { uuid: serviceUuid(hardwareUuid, name), name, port, device, isEnabled: true, ipv4: { kind: 'dhcp' } };
}

/** Whether a Mac is at the far end of this receptacle's cable. */
export const isCabled = (fleet: SimulatedFleet, mac: MacState, receptacle: ReceptacleState): boolean =>
  peerAt(fleet, { node: mac.name, receptacle: receptacle.number }) !== undefined;

export const isBridged = (mac: MacState, device: string): boolean => mac.live.bridge?.includes(device) === true;

/** The first enabled service of an interface configures it. */
const serviceFor = (mac: MacState, device: string): ServiceState | undefined =>
  servicesIn(mac.preferences).find((service) => service.device === device && service.isEnabled);

/** The address of a receptacle's interface; undefined without cable or service, and in a bridge (Apple TN3205). */
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
  const isConnected = isCabled(fleet, mac, receptacle) || carrierAt(fleet, mac, receptacle) !== undefined;
  if (service === undefined || service.ipv4.kind === 'off' || !isConnected) return undefined;
  if (service.ipv4.kind === 'manual') return service.ipv4;
  return leaseOver(fleet, mac, receptacle) ?? { address: selfAssigned, prefixLength: 16 };
}

/** The router address in the network of Internet Sharing (192.168.2.0/24 by default). */
const sharingRouter = '192.168.2.1';

function leaseOver(fleet: SimulatedFleet, mac: MacState, receptacle: ReceptacleState): InterfaceAddress | undefined {
  const peer = peerAt(fleet, { node: mac.name, receptacle: receptacle.number });
  if (peer?.mac.ailments.isSharingInternet !== true) return undefined;
  return { address: `192.168.2.${1 + receptacle.number}`, prefixLength: 24 };
}

export interface DhcpReply {
  readonly address: string;
  readonly server: string;
  readonly serverName: string;
}

/** The DHCP lease of a receptacle's interface, which lasts while the service uses DHCP and the far end answers. */
export function dhcpReply(fleet: SimulatedFleet, mac: MacState, receptacle: ReceptacleState): DhcpReply | undefined {
  const lease = leaseOver(fleet, mac, receptacle);
  const peer = peerAt(fleet, { node: mac.name, receptacle: receptacle.number });
  const isOnDhcp = serviceFor(mac, receptacle.device)?.ipv4.kind === 'dhcp' && !isBridged(mac, receptacle.device);
  if (lease === undefined || peer === undefined || !isOnDhcp) return undefined;
  return { address: lease.address, server: sharingRouter, serverName: peer.mac.name };
}

/**
 * The current router of a receptacle's interface: a peer's Internet Sharing, or the router of a fixed address. On an M3
 * Ultra, a cable with a router had a default route.
 */
export function routerOver(fleet: SimulatedFleet, mac: MacState, receptacle: ReceptacleState): string | undefined {
  const address = liveAddress(fleet, mac, receptacle);
  if (address === undefined) return undefined;
  const service = serviceFor(mac, receptacle.device);
  if (service?.ipv4.kind === 'manual') return service.ipv4.router;
  const lease = leaseOver(fleet, mac, receptacle);
  return lease?.address === address.address ? sharingRouter : undefined;
}

/** The address that macOS assigns to the Thunderbolt Bridge once one of its members has a cable. */
export function bridgeAddress(fleet: SimulatedFleet, mac: MacState): InterfaceAddress | undefined {
  const [first] = mac.receptacles;
  const isActive = mac.receptacles.some((one) => isBridged(mac, one.device) && isCabled(fleet, mac, one));
  if (first === undefined || !isActive || serviceFor(mac, 'bridge0') === undefined) return undefined;
  return { address: `169.254.${domainOctet(first, 0)}.${domainOctet(first, 2)}`, prefixLength: 16 };
}

/** An octet from 1 to 254 that is constant per Mac. */
const domainOctet = ({ domainUuid }: ReceptacleState, at: number): number =>
  1 + (Number.parseInt(domainUuid.slice(at, at + 2), 16) % 254);

export const receptacleWith = (mac: MacState, device: string): ReceptacleState | undefined =>
  mac.receptacles.find((one) => one.device === device);

export const bridgeService = (mac: MacState): ServiceState | undefined =>
  servicesIn(mac.preferences).find(({ device }) => device === 'bridge0');

/** Adds the Thunderbolt Bridge to a Mac's interfaces and preferences; the service is unchanged. */
export function withBridgeInterface(mac: MacState): MacState {
  const members = mac.receptacles.map(({ device }) => device);
  return { ...mac, live: { ...mac.live, bridge: members }, preferences: withBridge(mac.preferences, members) };
}

/** Adds the Thunderbolt Bridge to a Mac in all three layers. */
export function withWholeBridge(mac: MacState): MacState {
  const service = bridgeService(mac) ?? newService(mac.hardwareUuid, bridgePort, bridgePort, 'bridge0');
  const bridged = withBridgeInterface(mac);
  return { ...bridged, preferences: withService(bridged.preferences, { ...service, isEnabled: true }) };
}
