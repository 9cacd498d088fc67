import { given } from '../../model/given.ts';
import type { InterfaceAddress } from '../model/fleet.ts';
import { bridgeAddress, liveAddress, routerOver } from '../model/interfaces.ts';
import { ipv4Number, ipv4Text } from '../model/ip-text.ts';
import { servicesIn } from '../model/network-preferences.ts';
import { allInterfaces } from './ifconfig.ts';
import { lines, type View } from './tool.ts';

/**
 * Where the text of `netstat -rn -f inet` lies on a node. Its columns and flags are those of the captured table
 * `netstat-rn-inet.m3ultra.default-via-peer.txt` (public Swift test fixtures, Mac Studio M3 Ultra).
 */
export const routesPath = '/.sim/answers/netstat/-rn_-f_inet.out';

interface Line {
  readonly to: string;
  readonly by: string;
  readonly flags: string;
  readonly device: string;
  /** `!` for what expires with its interface. */
  readonly expires?: string;
}

/** One line in the widths of the captured table: everything to the left but interface and expiry. */
const lineText = ({ to, by, flags, device, expires = '' }: Line): string =>
  `${to.padEnd(18)} ${by.padEnd(18)} ${flags.padEnd(19)} ${device.padStart(5)} ${expires.padStart(6)}`;

/** The length that an address has by the classes of old. */
const classLength = (address: string): number => {
  const first = Number(address.split('.')[0]);
  return first < 128 ? 8 : first < 192 ? 16 : 24;
};

/**
 * A network as netstat writes it (route.c of Apple's network_cmds): without the octets of its class's host part where
 * all of those are zero, and without a length that is that of its class.
 */
function networkName({ address, prefixLength }: InterfaceAddress): string {
  const size = 2 ** (32 - prefixLength);
  const octets = ipv4Text(Math.floor((ipv4Number(address) ?? 0) / size) * size).split('.');
  const own = classLength(address);
  const kept = [1, 2, 3].find((count) => count * 8 >= own && octets.slice(count).every((octet) => octet === '0')) ?? 4;
  return `${octets.slice(0, kept).join('.')}${prefixLength === own ? '' : `/${prefixLength}`}`;
}

interface Attached {
  readonly device: string;
  readonly address: InterfaceAddress;
  readonly router?: string;
}

/** Every interface with an IPv4 address, in the order of the network services: the first router is the default one. */
function attached(view: View): readonly Attached[] {
  const services = servicesIn(view.mac.preferences).map(({ device }) => device);
  const place = ({ device }: Attached): number =>
    services.includes(device) ? services.indexOf(device) : services.length;
  return addressed(view).toSorted((one, other) => place(one) - place(other));
}

function addressed({ fleet, mac }: View): readonly Attached[] {
  const office: Attached = {
    device: mac.lan.device,
    address: { address: mac.lan.address, prefixLength: 24 },
    router: mac.lan.address.replace(/\.\d+$/, '.1'),
  };
  const cables = mac.receptacles.flatMap((receptacle): readonly Attached[] => {
    const address = liveAddress(fleet, mac, receptacle);
    const router = routerOver(fleet, mac, receptacle);
    return address === undefined ? [] : [{ device: receptacle.device, address, ...given({ router }) }];
  });
  const bridge = bridgeAddress(fleet, mac);
  return [office, ...cables, ...(bridge === undefined ? [] : [{ device: 'bridge0', address: bridge }])];
}

/** The routing table of a Mac: the first interface has the default route, the others one for what is bound to them. */
export function routesText(view: View): string {
  const names = allInterfaces(view).map(({ name }) => name);
  const wire = (device: string): string => `link#${names.indexOf(device) + 1}`;
  const all = attached(view);
  const primary = all.find(({ router }) => router !== undefined)?.device ?? all[0]?.device ?? '';
  const defaults = all.flatMap(({ device, router }): readonly Line[] =>
    router === undefined ? [] : [{ to: 'default', by: router, flags: device === primary ? 'UGScg' : 'UGScIg', device }],
  );
  const networks = all.flatMap(({ device, address, router }): readonly Line[] => [
    { to: networkName(address), by: wire(device), flags: 'UCS', device, expires: '!' },
    ...(router === undefined || device === primary
      ? []
      : [{ to: `${router}/32`, by: wire(device), flags: 'UCS', device, expires: '!' }]),
    { to: `${address.address}/32`, by: wire(device), flags: 'UCS', device, expires: '!' },
  ]);
  const local: readonly Line[] = [{ to: '127', by: '127.0.0.1', flags: 'UCS', device: 'lo0' }];
  const multicast = { to: '224.0.0/4', by: wire(primary), flags: 'UmCS', device: primary };
  return lines(
    'Routing tables',
    '',
    'Internet:',
    lineText({ to: 'Destination', by: 'Gateway', flags: 'Flags', device: 'Netif', expires: 'Expire' }),
    ...[...defaults, ...local, ...networks, { ...multicast, expires: '!' }].map(lineText),
  );
}
