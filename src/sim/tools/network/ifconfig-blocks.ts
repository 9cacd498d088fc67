import { bridgeAddress, isBridged, isCabled, type LiveAddress, liveAddress } from '../../model/interfaces.ts';
import { broadcastOf, hexMask } from '../../model/ip-text.ts';
import type { PortState, ReceptacleState } from '../../model/mac.ts';
import { lines, type View } from '../tool.ts';

/** One interface as `ifconfig` prints it. */
export interface Block {
  readonly name: string;
  readonly text: string;
}

const up = 'flags=8863<UP,BROADCAST,SMART,RUNNING,SIMPLEX,MULTICAST> mtu 1500';
const member = 'flags=8963<UP,BROADCAST,SMART,RUNNING,PROMISC,SIMPLEX,MULTICAST> mtu 1500';
const neighbours = '\tnd6 options=201<PERFORMNUD,DAD>';

const loopback: Block = {
  name: 'lo0',
  text: lines(
    'lo0: flags=8049<UP,LOOPBACK,RUNNING,MULTICAST> mtu 16384',
    '\toptions=1203<RXCSUM,TXCSUM,TXSTATUS,SW_TIMESTAMP>',
    '\tinet 127.0.0.1 netmask 0xff000000',
    '\tinet6 ::1 prefixlen 128 ',
    '\tinet6 fe80::1%lo0 prefixlen 64 scopeid 0x1 ',
    neighbours,
  ),
};
const tunnels: readonly Block[] = [
  { name: 'gif0', text: lines('gif0: flags=8010<POINTOPOINT,MULTICAST> mtu 1280') },
  { name: 'stf0', text: lines('stf0: flags=0<> mtu 1280') },
];
/** An interface without a status line, as in the published list of an M3 Ultra. */
const nan = (macAddress: string): Block => ({
  name: 'nan0',
  text: lines(
    'nan0: flags=8822<BROADCAST,SMART,SIMPLEX,MULTICAST> mtu 1500',
    '\toptions=400<CHANNEL_IO>',
    `\tether ${macAddress}`,
  ),
});

/** macOS counts interfaces from 1 in the order in which it made them; the list is in that order. */
const scopeOf = (index: number): string => `0x${index.toString(16)}`;

const inet6Line = (address: string, name: string, index: number): string =>
  `\tinet6 ${address}%${name} prefixlen 64 secured scopeid ${scopeOf(index)} `;

const inetLine = ({ address, prefixLength }: LiveAddress): string =>
  `\tinet ${address} netmask ${hexMask(prefixLength)} broadcast ${broadcastOf(address, prefixLength)}`;

/** Every interface, in the order of `ifconfig -a`. */
export function allInterfaces(view: View): readonly Block[] {
  const { mac } = view;
  const named = [
    ...mac.ports.map((port) => ({ device: port.device, block: (index: number) => portBlock(view, port, index) })),
    ...mac.receptacles.map((one) => ({
      device: one.device,
      block: (index: number) => receptacleBlock(view, one, index),
    })),
  ].sort((one, other) => Number(one.device.slice(2)) - Number(other.device.slice(2)));
  const before = [loopback, ...tunnels];
  const ports = named.map(({ block }, position) => block(before.length + 1 + position));
  const wifi = mac.ports.find((port) => port.kind === 'wifi')?.macAddress ?? '';
  return [
    ...before,
    ...ports,
    ...(mac.live.bridge === undefined ? [] : [bridgeBlock(view, mac.live.bridge)]),
    nan(wifi),
  ];
}

function portBlock({ mac }: View, port: PortState, index: number): Block {
  const { device } = port;
  const isLan = device === mac.lan.device;
  const addresses = isLan
    ? [inet6Line(mac.lan.linkLocal, device, index), inetLine({ address: mac.lan.address, prefixLength: 24 })]
    : [];
  const text = lines(
    `${device}: ${up}`,
    port.kind === 'adapter' ? '\toptions=400<CHANNEL_IO>' : '\toptions=460<TSO4,TSO6,CHANNEL_IO>',
    `\tether ${port.macAddress}`,
    ...addresses,
    neighbours,
    port.kind === 'adapter' ? '\tmedia: none' : `\tmedia: autoselect${isLan ? ' <full-duplex>' : ''}`,
    `\tstatus: ${isLan ? 'active' : 'inactive'}`,
  );
  return { name: device, text };
}

function receptacleBlock(view: View, receptacle: ReceptacleState, index: number): Block {
  const { fleet, mac } = view;
  const { device } = receptacle;
  const isMember = isBridged(mac, device);
  const isActive = isCabled(fleet, mac, receptacle);
  const live = liveAddress(fleet, mac, receptacle);
  const text = lines(
    `${device}: ${isMember ? member : up}`,
    '\toptions=460<TSO4,TSO6,CHANNEL_IO>',
    `\tether ${receptacle.macAddress}`,
    ...(isActive && !isMember ? [inet6Line(receptacle.linkLocal, device, index)] : []),
    ...(live === undefined ? [] : [inetLine(live)]),
    ...(isMember ? [] : [neighbours]),
    '\tmedia: autoselect <full-duplex>',
    `\tstatus: ${isActive ? 'active' : 'inactive'}`,
  );
  return { name: device, text };
}

/** `bridge0` with its members. Its spanning tree is named and not running: every id is zero. */
function bridgeBlock({ fleet, mac }: View, bridged: readonly string[]): Block {
  const address = bridgeAddress(fleet, mac);
  const members = bridged.flatMap((device, index) => [
    `\tmember: ${device} flags=3<LEARNING,DISCOVER>`,
    `\t        ifmaxaddr 0 port ${11 + index} priority 0 path cost 0`,
  ]);
  const text = lines(
    `bridge0: ${up}`,
    '\toptions=63<RXCSUM,TXCSUM,TSO4,TSO6>',
    `\tether ${mac.receptacles[0]?.macAddress ?? ''}`,
    ...(address === undefined ? [] : [inetLine(address)]),
    '\tConfiguration:',
    '\t\tid 0:0:0:0:0:0 priority 0 hellotime 0 fwddelay 0',
    '\t\tmaxage 0 holdcnt 0 proto stp maxaddr 100 timeout 1200',
    '\t\troot id 0:0:0:0:0:0 priority 0 ifcost 0 port 0',
    '\t\tipfilter disabled flags 0x0',
    ...members,
    neighbours,
    '\tmedia: <unknown type>',
    `\tstatus: ${address === undefined ? 'inactive' : 'active'}`,
  );
  return { name: 'bridge0', text };
}
