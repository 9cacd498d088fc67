import { type MacState, withMac } from '../../model/fleet.ts';
import {
  bridgeAddress,
  bridgePort,
  configured,
  type LiveAddress,
  liveAddress,
  receptaclePort,
  routerOver,
  type ServiceState,
  servicesOf,
  serviceUuid,
} from '../../model/interfaces.ts';
import { dottedMask, ipv4Number, maskLength } from '../../model/ip-text.ts';
import {
  bridgeIn,
  type NetworkService,
  type ServiceIpv4,
  servicesIn,
  withOrder,
  withoutService,
  withService,
} from '../../model/network-preferences.ts';
import {
  capture,
  lines,
  published,
  type Row,
  type TableTool,
  unconfirmed,
  type View,
  type WriteCall,
  type WriteForm,
  type WriteResult,
  type Writes,
} from '../tool.ts';

const described = published(
  'networksetup(8); who is not root is told so on stdout with exit 14, as several public tools expect it',
);

const forms: readonly WriteForm[] = [
  { form: '-setmanual SERVICE ADDRESS MASK ROUTER', match: "5:'-setmanual '*", source: described },
  {
    form: '-setmanual SERVICE ADDRESS MASK',
    match: "4:'-setmanual '*",
    source: unconfirmed('networksetup -setmanual without a router, as for a cable between two Macs'),
  },
  { form: '-setdhcp SERVICE', match: "2:'-setdhcp '*", source: described },
  { form: '-setnetworkserviceenabled SERVICE on|off', match: "3:'-setnetworkserviceenabled '*", source: described },
  {
    form: '-removenetworkservice SERVICE',
    match: "2:'-removenetworkservice '*",
    source: described,
  },
  {
    form: '-createnetworkservice SERVICE HARDWARE-PORT',
    match: "3:'-createnetworkservice '*",
    source: unconfirmed(
      'networksetup -createnetworkservice says nothing; a name that is taken and an unknown port: exit 4',
    ),
  },
  {
    form: '-ordernetworkservices SERVICE ...',
    match: "*:'-ordernetworkservices '*",
    source: published(
      'networksetup(8); several public scripts and issues quote "Wrong number of network services... No changes have been made."',
    ),
  },
];

/** What a form does: the service after it, or what is wrong with its words. */
type Change =
  | { readonly service: NetworkService; readonly isRemoved?: true }
  | { readonly order: readonly string[] }
  | { readonly wrong: string };

const error = 4;

const notRecognized = (name: string): Change => ({ wrong: `${name} is not a recognized network service.` });

/** The service of this name, changed. */
function changeOf(mac: MacState, name: string, change: (service: NetworkService) => Change): Change {
  const service = servicesIn(mac.preferences).find((one) => one.name === name);
  return service === undefined ? notRecognized(name) : change(service);
}

function manualAddress(service: NetworkService, [address = '', mask = '', router]: readonly string[]): Change {
  const prefixLength = maskLength(mask);
  if (ipv4Number(address) === undefined) return { wrong: `${address} is not a valid IP address.` };
  if (prefixLength === undefined) return { wrong: `${mask} is not a valid subnet mask.` };
  const ipv4: ServiceIpv4 = { kind: 'manual', address, prefixLength, ...(router === undefined ? {} : { router }) };
  return { service: { ...service, ipv4 } };
}

/** The interface behind a hardware port; the bridge is one while the preferences have it. */
function deviceOf(mac: MacState, port: string): string | undefined {
  const receptacle = mac.receptacles.find((one) => receptaclePort(one) === port);
  if (port === bridgePort) return 'bridge0';
  return receptacle?.device ?? mac.ports.find((one) => one.port === port)?.device;
}

function created(mac: MacState, [name = '', port = '']: readonly string[]): Change {
  const device = deviceOf(mac, port);
  if (device === undefined) return { wrong: `${port} is not a recognized hardware port.` };
  if (servicesIn(mac.preferences).some((one) => one.name === name)) {
    return { wrong: `A network service with the name "${name}" already exists.` };
  }
  const uuid = serviceUuid(mac.hardwareUuid, name);
  return { service: { uuid, name, port, device, isEnabled: true, ipv4: { kind: 'dhcp' } } };
}

/** The tool wants the name of every service, each once. */
function ordered(mac: MacState, names: readonly string[]): Change {
  const services = servicesIn(mac.preferences);
  const order = names.flatMap((name) => services.find((one) => one.name === name)?.uuid ?? []);
  if (order.length === names.length && new Set(order).size === services.length && names.length === services.length) {
    return { order };
  }
  const wrong = 'Wrong number of network services... No changes have been made.';
  return { wrong: `${wrong}\nNote: Quotes must be used around service names which contain spaces.` };
}

function changed(mac: MacState, [verb, name = '', ...rest]: readonly string[]): Change | undefined {
  switch (verb) {
    case '-setmanual':
      return changeOf(mac, name, (service) => manualAddress(service, rest));
    case '-setdhcp':
      return changeOf(mac, name, (service) => ({ service: { ...service, ipv4: { kind: 'dhcp' } } }));
    case '-setnetworkserviceenabled':
      if (rest[0] !== 'on' && rest[0] !== 'off') return undefined;
      return changeOf(mac, name, (service) => ({ service: { ...service, isEnabled: rest[0] === 'on' } }));
    case '-removenetworkservice':
      return changeOf(mac, name, (service) => ({ service, isRemoved: true }));
    case '-ordernetworkservices':
      return ordered(mac, [name, ...rest]);
    default:
      return created(mac, [name, ...rest]);
  }
}

/** What an SSH session without Full Disk Access is told (github.com/SQCU/mesh); the exit code is not known. */
const noAccess = 'Unable to access the System Configuration database';

function write({ fleet, mac }: View, { args, isRoot }: WriteCall): WriteResult | undefined {
  const change = changed(mac, args);
  if (change === undefined) return undefined;
  if (!isRoot) return { fleet, stdout: lines('** Error: Command requires admin privileges.'), exitCode: 14 };
  if (!mac.ailments.hasFullDiskAccess) return { fleet, stderr: lines(noAccess), exitCode: 1 };
  if ('wrong' in change) {
    return { fleet, stdout: lines(change.wrong, '** Error: The parameters were not valid.'), exitCode: error };
  }
  if ('order' in change) {
    const reordered = (one: MacState): MacState => ({ ...one, preferences: withOrder(one.preferences, change.order) });
    return { fleet: withMac(fleet, mac.name, (one) => configured(reordered(one), [])) };
  }
  const { service, isRemoved } = change;
  const preferencesOf = ({ preferences }: MacState): MacState['preferences'] =>
    isRemoved === true ? withoutService(preferences, service) : withService(preferences, service);
  return {
    fleet: withMac(fleet, mac.name, (one) => configured({ ...one, preferences: preferencesOf(one) }, [service.device])),
  };
}

/** The forms of `networksetup` that change a service. Each also makes configd read the preferences again. */
const networksetupWrites: Writes = { forms, write };

const publisher = 'test data of a two-Mac cluster tool, Mac Studio M3 Ultra';
const ports = capture('networksetup-listallhardwareports.m3ultra.no-bridge.txt', publisher);
const order = capture('networksetup-listnetworkserviceorder.m3ultra.no-bridge.txt', publisher);
const dhcp = capture('networksetup-getinfo.m3ultra.thunderbolt6-dhcp.txt', publisher);
const manual = unconfirmed('networksetup -getinfo of a service with a fixed address and no router');
const names = unconfirmed(
  'networksetup -listallnetworkservices prints the notice, then one name per line, * before disabled ones',
);

const enabled = unconfirmed('networksetup -getnetworkserviceenabled prints Enabled or Disabled');

const notice = 'An asterisk (*) denotes that a network service is disabled.';

interface ListedPort {
  readonly port: string;
  readonly device: string;
  readonly macAddress: string;
}

/** The ports in the captured order; the bridge stands before Wi-Fi, with the MAC address of its first member. */
function listedPorts(mac: MacState): readonly ListedPort[] {
  const [first] = mac.receptacles;
  const bridge =
    bridgeIn(mac.preferences) !== undefined && first !== undefined
      ? [{ port: bridgePort, device: 'bridge0', macAddress: first.macAddress }]
      : [];
  const receptacles = mac.receptacles.map((one) => ({ ...one, port: receptaclePort(one) }));
  return [
    ...mac.ports.filter((port) => port.kind !== 'wifi'),
    ...bridge,
    ...mac.ports.filter((port) => port.kind === 'wifi'),
    ...receptacles,
  ];
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

/** What a service has when macOS got it by itself: a lease in the office, a self-assigned address on a cable, or nothing. */
function automaticAddress({ fleet, mac }: View, service: ServiceState): LiveAddress | undefined {
  if (service.device === mac.lan.device) return { address: mac.lan.address, prefixLength: 24 };
  if (service.device === 'bridge0') return bridgeAddress(fleet, mac);
  return service.receptacle === undefined ? undefined : liveAddress(fleet, mac, service.receptacle);
}

const macAddressOf = (mac: MacState, device: string): string =>
  listedPorts(mac).find((port) => port.device === device)?.macAddress ?? '(null)';

function routerOf({ fleet, mac }: View, { device, ipv4, receptacle }: ServiceState): string {
  if (ipv4.kind === 'manual') return ipv4.router ?? '(null)';
  if (receptacle !== undefined) return routerOver(fleet, mac, receptacle) ?? '(null)';
  return device === mac.lan.device ? mac.lan.address.replace(/\.\d+$/, '.1') : '(null)';
}

/** The text of a service whose IPv4 is off was never published: nothing of meshwright reads it. */
const infoWithoutIpv4 = (mac: MacState, service: ServiceState): Row => ({
  args: ['-getinfo', service.name],
  source: unconfirmed('networksetup -getinfo of a service without IPv4 begins with its IPv6 lines'),
  stdout: lines(
    'IPv6: Automatic',
    'IPv6 IP address: none',
    'IPv6 Router: none',
    `Ethernet Address: ${macAddressOf(mac, service.device)}`,
  ),
});

function getInfo(view: View, service: ServiceState): Row {
  const { mac } = view;
  const { ipv4 } = service;
  if (ipv4.kind === 'off') return infoWithoutIpv4(view.mac, service);
  const isManual = ipv4.kind === 'manual';
  const address = isManual ? ipv4 : automaticAddress(view, service);
  const router = routerOf(view, service);
  const addressLines =
    address === undefined
      ? []
      : [`IP address: ${address.address}`, `Subnet mask: ${dottedMask(address.prefixLength)}`, `Router: ${router}`];
  const idName = service.port === 'Wi-Fi' ? 'Wi-Fi ID' : 'Ethernet Address';
  return {
    args: ['-getinfo', service.name],
    source: isManual ? manual : dhcp,
    stdout: lines(
      isManual ? 'Manual Configuration' : 'DHCP Configuration',
      ...addressLines,
      ...(isManual ? [] : ['Client ID: ']),
      'IPv6: Automatic',
      'IPv6 IP address: none',
      'IPv6 Router: none',
      `${idName}: ${macAddressOf(mac, service.device)}`,
    ),
  };
}

/** `networksetup`: what ports and services there are, and how services are changed. */
export const networksetup: TableTool = {
  kind: 'table',
  path: '/usr/sbin/networksetup',
  rows: (view) => {
    const services = servicesOf(view.mac);
    return [
      { args: ['-listallhardwareports'], source: ports, stdout: hardwarePorts(view.mac) },
      { args: ['-listnetworkserviceorder'], source: order, stdout: serviceOrder(services) },
      { args: ['-listallnetworkservices'], source: names, stdout: serviceNames(services) },
      ...services.map((service) => getInfo(view, service)),
      ...services.map(({ name, isEnabled }) => ({
        args: ['-getnetworkserviceenabled', name],
        source: enabled,
        stdout: lines(isEnabled ? 'Enabled' : 'Disabled'),
      })),
    ];
  },
  patterns: [
    {
      match: "'2:-getinfo '*",
      body: 'printf \'%s is not a recognized network service.\\n** Error: The parameters were not valid.\\n\' "$2"; exit 4',
      source: published('a Swift test of the same message with exit code 4'),
    },
    {
      match: "'2:-getnetworkserviceenabled '*",
      body: 'printf \'%s is not a recognized network service.\\n** Error: The parameters were not valid.\\n\' "$2"; exit 4',
      source: published('a Swift test of the same message with exit code 4'),
    },
  ],
  writes: networksetupWrites,
  usage: {
    text: lines('networksetup Help Information', '-------------------------------'),
    exitCode: 1,
    source: unconfirmed("networksetup's answer to an unknown option"),
  },
};
