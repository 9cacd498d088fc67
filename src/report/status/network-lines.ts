import type {
  BridgePreference,
  DhcpAnswer,
  NetworkInterface,
  NetworkService,
  Route,
  ServiceAddress,
} from '../../model/facts/fact-values.ts';
import { durationText } from '../../model/text/units.ts';

/** Every interface gives itself an address from fe80::/10; only others lead anywhere. */
const ownIpv6 = ({ ipv6 }: NetworkInterface): readonly string[] =>
  ipv6.filter((address) => !/^fe[89ab][0-9a-f]:/i.test(address));

function interfaceLine(one: NetworkInterface): string {
  const { name, isUp, status, ipv4, members } = one;
  const addresses = [...ipv4.map(({ address, prefixLength }) => `${address}/${prefixLength}`), ...ownIpv6(one)];
  const bridged = members.length === 0 ? [] : [`bridges ${members.join(' ')}`];
  return [`${name} ${isUp ? (status ?? 'up') : 'down'}`, ...addresses, ...bridged].join(', ');
}

/** Interfaces that carry an address or a bridge, one per line, then how many others there are. */
export function interfaceLines(interfaces: readonly NetworkInterface[]): readonly string[] {
  const worthALine = interfaces.filter((one) => one.ipv4.length + one.members.length > 0 || ownIpv6(one).length > 0);
  const others = interfaces.filter((one) => !worthALine.includes(one)).map((one) => one.name);
  return [...worthALine.map(interfaceLine), ...(others.length === 0 ? [] : [`without address: ${others.join(' ')}`])];
}

/** The lease time of a server that never takes an address back. @see RFC 2131, 3.3 */
const noEnd = 0xff_ff_ff_ff;

/** One line per lease, then the interfaces without one. */
export function dhcpLeaseLines(answers: readonly DhcpAnswer[]): readonly string[] {
  const leases = answers.flatMap(({ device, lease }) => {
    const time = lease?.seconds === noEnd ? 'without end' : `for ${durationText((lease?.seconds ?? 0) * 1_000)}`;
    return lease === undefined ? [] : [`${device} ${lease.address} from ${lease.server} ${time}`];
  });
  const others = answers.filter(({ lease }) => lease === undefined).map(({ device }) => device);
  return [...leases, ...(others.length === 0 ? [] : [`no lease: ${others.join(' ')}`])];
}

/** The routes that lead through a gateway or to a whole network; those of the loopback and of multicast say nothing. */
export const routeItems = (routes: readonly Route[]): readonly string[] =>
  routes
    .filter(({ device, destination: { address } }) => !/^lo\d/.test(device) && Number(address.split('.')[0]) < 224)
    .map(({ destination: { address, prefixLength }, gateway, device }) => {
      const network = prefixLength === 0 ? 'default' : `${address}/${prefixLength}`;
      return `${network} ${device}${/^\d/.test(gateway) && !gateway.includes(':') ? ` by ${gateway}` : ''}`;
    });

/** One line per bridge of the network preferences. */
export const bridgePreferenceLines = (bridges: readonly BridgePreference[]): readonly string[] =>
  bridges.map(({ name, interfaces, auto }) => {
    const maker = auto === undefined ? '' : `, made by macOS (${auto})`;
    return `${name} with ${interfaces.length === 0 ? 'nothing' : interfaces.join(' ')}${maker}`;
  });

/** The network services in their order, each with its device. */
export const serviceOrderItems = (services: readonly NetworkService[]): readonly string[] =>
  services.map(({ name, device, isEnabled }) => {
    const where = device === undefined ? '' : ` ${device}`;
    return `${name}${where}${isEnabled ? '' : ' (off)'}`;
  });

/** How each network service gets its address, each with its device. */
export const serviceAddressItems = (addresses: readonly ServiceAddress[]): readonly string[] =>
  addresses.map(({ service, device, method, address, router }) => {
    const words = { dhcp: 'by DHCP', manual: 'fixed', off: 'IPv4 off', other: 'in another way' }[method];
    const over = router === undefined ? '' : ` router ${router}`;
    const fixed = address === undefined ? words : `${address.address}/${address.prefixLength}${over}`;
    return `${service} ${device} ${fixed}`;
  });
