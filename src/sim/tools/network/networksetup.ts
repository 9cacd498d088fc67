import {
  bridgeAddress,
  bridgePort,
  type LiveAddress,
  liveAddress,
  receptaclePort,
  routerOver,
  type ServiceState,
  servicesOf,
} from '../../model/interfaces.ts';
import { dottedMask } from '../../model/ip-text.ts';
import type { MacState } from '../../model/mac.ts';
import { bridgeIn } from '../../model/network-preferences.ts';
import { capture, published, unconfirmed } from '../source.ts';
import { lines, type Row, type TableTool, type View } from '../tool.ts';
import { networksetupWrites } from './networksetup-write.ts';

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
