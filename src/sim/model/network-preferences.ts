import { given } from '../../model/given.ts';
import { dottedMask, maskLength } from './ip-text.ts';
import { dictAt, type PlistDict, valueAt, withValue } from './plist.ts';

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
