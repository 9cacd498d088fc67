import { given } from '../../model/given.ts';
import type { InterfaceAddress, MacState, PortState, ReceptacleState } from '../model/fleet.ts';
import { dottedMask, ipv4Number, maskLength } from '../model/ip-text.ts';
import {
  bridgeAddress,
  bridgeIn,
  bridgePort,
  liveAddress,
  newService,
  receptacleWith,
  routerOver,
  type ServiceState,
  servicesIn,
  withOrder,
  withoutService,
  withService,
} from '../model/network.ts';
import type { PlistDict } from '../model/plist.ts';
import { from, lines, type Row, row, type Tool, type ToolChange, type ToolView, usage } from './tool.ts';

const described = from.published(
  'networksetup(8); without root, a message on stdout and exit 14, as several public tools expect',
);

/** macOS's name for a receptacle's network port: `Thunderbolt 2`. */
const receptaclePort = (receptacle: ReceptacleState): string => `Thunderbolt ${receptacle.number}`;

/** The preferences after a change, and the interfaces whose addresses configd must set again. */
interface Preferences {
  readonly preferences: PlistDict;
  readonly devices: readonly string[];
}

/**
 * Wraps a form: checks its arguments, requires root and Full Disk Access, and then applies the preferences like
 * configd. Afterwards, the bridge exists only if the preferences contain it, and the interfaces have their services'
 * addresses.
 */
const asAdmin =
  (change: (mac: MacState, words: readonly string[]) => Preferences | string): ToolChange =>
  ({ mac, words, isRoot }) => {
    const result = change(mac, words);
    if (!isRoot) return { stdout: lines('** Error: Command requires admin privileges.'), exitCode: 14 };
    // The message in an SSH session without Full Disk Access (github.com/SQCU/mesh). The exit code is unknown.
    if (!mac.ailments.hasFullDiskAccess)
      return { stderr: lines('Unable to access the System Configuration database'), exitCode: 1 };
    if (typeof result === 'string')
      return { stdout: lines(result, '** Error: The parameters were not valid.'), exitCode: 4 };
    const { preferences, devices } = result;
    const others = Object.entries(mac.live.addresses).filter(([device]) => !devices.includes(device));
    const live = { ...given({ bridge: bridgeIn(preferences) }), addresses: Object.fromEntries(others) };
    return { after: { preferences, live } };
  };

type PreferencesOf = (preferences: PlistDict, service: ServiceState, words: readonly string[]) => PlistDict | string;

/** A form about the service in its first argument: returns the changed preferences, or an error in the arguments. */
const ofService = (change: PreferencesOf): ToolChange =>
  asAdmin(({ preferences }, [name = '', ...words]) => {
    const service = servicesIn(preferences).find((one) => one.name === name);
    if (service === undefined) return `${name} is not a recognized network service.`;
    const result = change(preferences, service, words);
    return typeof result === 'string' ? result : { preferences: result, devices: [service.device] };
  });

const setManual: PreferencesOf = (preferences, service, [address = '', mask = '', router]) => {
  const prefixLength = maskLength(mask);
  if (ipv4Number(address) === undefined) return `${address} is not a valid IP address.`;
  if (prefixLength === undefined) return `${mask} is not a valid subnet mask.`;
  const ipv4 = { kind: 'manual', address, prefixLength, ...given({ router }) } as const;
  return withService(preferences, { ...service, ipv4 });
};

const setDhcp: PreferencesOf = (preferences, service) =>
  withService(preferences, { ...service, ipv4: { kind: 'dhcp' } });

const setEnabled: PreferencesOf = (preferences, service, [state]) =>
  withService(preferences, { ...service, isEnabled: state === 'on' });

function deviceOf(mac: MacState, port: string): string | undefined {
  const receptacle = mac.receptacles.find((one) => receptaclePort(one) === port);
  if (port === bridgePort) return 'bridge0';
  return receptacle?.device ?? mac.ports.find((one) => one.port === port)?.device;
}

const createService = asAdmin((mac, [name = '', port = '']) => {
  const { preferences, hardwareUuid } = mac;
  const device = deviceOf(mac, port);
  if (device === undefined) return `${port} is not a recognized hardware port.`;
  if (servicesIn(preferences).some((one) => one.name === name)) {
    return `A network service with the name "${name}" already exists.`;
  }
  return { preferences: withService(preferences, newService(hardwareUuid, name, port, device)), devices: [device] };
});

/** The tool requires the name of every service exactly once. */
const orderServices = asAdmin(({ preferences }, names) => {
  const services = servicesIn(preferences);
  const order = names.flatMap((name) => services.find((one) => one.name === name)?.uuid ?? []);
  if (order.length === names.length && new Set(order).size === services.length && names.length === services.length) {
    return { preferences: withOrder(preferences, order), devices: [] };
  }
  const why = 'Wrong number of network services... No changes have been made.';
  return `${why}\nNote: Quotes must be used around service names which contain spaces.`;
});

const publisher = 'test data of a two-Mac cluster tool, Mac Studio M3 Ultra';
const ports = from.capture('networksetup-listallhardwareports.m3ultra.no-bridge.txt', publisher);
const order = from.capture('networksetup-listnetworkserviceorder.m3ultra.no-bridge.txt', publisher);
const dhcp = from.capture('networksetup-getinfo.m3ultra.thunderbolt6-dhcp.txt', publisher);
const manual = from.unconfirmed('networksetup -getinfo of a service with a fixed address and no router');
const names = from.unconfirmed(
  'networksetup -listallnetworkservices prints a notice, then one name per line, with * before disabled services',
);
const enabled = from.unconfirmed('networksetup -getnetworkserviceenabled prints Enabled or Disabled');
const withoutRouter = from.unconfirmed('networksetup -setmanual without a router, as for a cable between two Macs');
const created = from.unconfirmed(
  'networksetup -createnetworkservice prints nothing, and exits with 4 for a name in use or an unknown port',
);
const ordered = from.published(
  'networksetup(8); several public scripts and issues quote "Wrong number of network services... No changes have been made."',
);

const notice = 'An asterisk (*) denotes that a network service is disabled.';

/** The ports in the captured order; the bridge precedes Wi-Fi and has its first member's MAC address. */
function listedPorts(mac: MacState): readonly Omit<PortState, 'kind'>[] {
  const [first] = mac.receptacles;
  const bridge =
    bridgeIn(mac.preferences) !== undefined && first !== undefined
      ? [{ port: bridgePort, device: 'bridge0', macAddress: first.macAddress }]
      : [];
  const receptacles = mac.receptacles.map((one) => ({ ...one, port: receptaclePort(one) }));
  const wifi = mac.ports.filter((port) => port.kind === 'wifi');
  return [...mac.ports.filter((port) => !wifi.includes(port)), ...bridge, ...wifi, ...receptacles];
}

const hardwarePorts = (mac: MacState): string =>
  lines(
    '',
    ...listedPorts(mac).flatMap(({ port, device, macAddress }) => [
      `Hardware Port: ${port}`,
      `Device: ${device}`,
      `Ethernet Address: ${macAddress}`,
      '',
    ]),
    'VLAN Configurations',
    '===================',
  );

const serviceOrder = (services: readonly ServiceState[]): string =>
  lines(
    notice,
    ...services.flatMap(({ name, port, device, isEnabled }, index) => [
      `(${isEnabled ? index + 1 : '*'}) ${name}`,
      `(Hardware Port: ${port}, Device: ${device})`,
      '',
    ]),
  );

const serviceNames = (services: readonly ServiceState[]): string =>
  lines(notice, ...services.map(({ name, isEnabled }) => (isEnabled ? name : `*${name}`)));

/** A service's automatic address: a lease in the office, a self-assigned address on a cable, or none. */
function automaticAddress({ fleet, mac }: ToolView, device: string): InterfaceAddress | undefined {
  if (device === mac.lan.device) return { address: mac.lan.address, prefixLength: 24 };
  if (device === 'bridge0') return bridgeAddress(fleet, mac);
  const receptacle = receptacleWith(mac, device);
  return receptacle && liveAddress(fleet, mac, receptacle);
}

const macAddressOf = (mac: MacState, device: string): string =>
  listedPorts(mac).find((port) => port.device === device)?.macAddress ?? '(null)';

function routerOf({ fleet, mac }: ToolView, { device, ipv4 }: ServiceState): string {
  if (ipv4.kind === 'manual') return ipv4.router ?? '(null)';
  const receptacle = receptacleWith(mac, device);
  if (receptacle !== undefined) return routerOver(fleet, mac, receptacle) ?? '(null)';
  return device === mac.lan.device ? mac.lan.address.replace(/\.\d+$/, '.1') : '(null)';
}

/** The output for a service with IPv4 off was never published, but meshwright does not read it. */
const withoutIpv4 = from.unconfirmed('networksetup -getinfo for a service without IPv4 begins with its IPv6 lines');

function getInfo(view: ToolView, service: ServiceState): Row {
  const { name, port, device, ipv4 } = service;
  const args = ['-getinfo', name];
  const idName = port === 'Wi-Fi' && ipv4.kind !== 'off' ? 'Wi-Fi ID' : 'Ethernet Address';
  const ipv6 = [
    'IPv6: Automatic',
    'IPv6 IP address: none',
    'IPv6 Router: none',
    `${idName}: ${macAddressOf(view.mac, device)}`,
  ];
  if (ipv4.kind === 'off') return row(args, withoutIpv4, lines(...ipv6));
  const isManual = ipv4.kind === 'manual';
  const address = isManual ? ipv4 : automaticAddress(view, device);
  const router = routerOf(view, service);
  const addressLines =
    address === undefined
      ? []
      : [`IP address: ${address.address}`, `Subnet mask: ${dottedMask(address.prefixLength)}`, `Router: ${router}`];
  const head = isManual ? 'Manual Configuration' : 'DHCP Configuration';
  const client = isManual ? [] : ['Client ID: '];
  return row(args, isManual ? manual : dhcp, lines(head, ...addressLines, ...client, ...ipv6));
}

/** `networksetup`: lists hardware ports, and lists and changes network services. */
export const networksetup: Tool = {
  path: '/usr/sbin/networksetup',
  rows: (view) => {
    const services = servicesIn(view.mac.preferences);
    return [
      row(['-listallhardwareports'], ports, hardwarePorts(view.mac)),
      row(['-listnetworkserviceorder'], order, serviceOrder(services)),
      row(['-listallnetworkservices'], names, serviceNames(services)),
      ...services.map((service) => getInfo(view, service)),
      ...services.map(({ name, isEnabled }) =>
        row(['-getnetworkserviceenabled', name], enabled, lines(isEnabled ? 'Enabled' : 'Disabled')),
      ),
    ];
  },
  patterns: ['-getinfo', '-getnetworkserviceenabled'].map((option) => ({
    match: `'2:${option} '*`,
    body: 'printf \'%s is not a recognized network service.\\n** Error: The parameters were not valid.\\n\' "$2"; exit 4',
    source: from.published('a Swift test with the same message and exit code 4'),
  })),
  writes: [
    { form: '-setmanual SERVICE ADDRESS MASK ROUTER', source: described, change: ofService(setManual) },
    { form: '-setmanual SERVICE ADDRESS MASK', source: withoutRouter, change: ofService(setManual) },
    { form: '-setdhcp SERVICE', source: described, change: ofService(setDhcp) },
    { form: '-setnetworkserviceenabled SERVICE on|off', source: described, change: ofService(setEnabled) },
    { form: '-removenetworkservice SERVICE', source: described, change: ofService(withoutService) },
    { form: '-createnetworkservice SERVICE HARDWARE-PORT', source: created, change: createService },
    { form: '-ordernetworkservices SERVICE ...', source: ordered, change: orderServices },
  ],
  usage: usage(
    1,
    from.unconfirmed("networksetup's answer to an unknown option"),
    'networksetup Help Information',
    '-------------------------------',
  ),
};
