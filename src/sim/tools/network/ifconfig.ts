import {
  type InterfaceAddress,
  type LiveNetwork,
  type MacState,
  type PortState,
  type ReceptacleState,
  withMac,
} from '../../model/fleet.ts';
import { bridgeAddress, isBridged, isCabled, type LiveAddress, liveAddress } from '../../model/interfaces.ts';
import { broadcastOf, hexMask, ipv4Number, maskLength } from '../../model/ip-text.ts';
import {
  apple,
  capture,
  lines,
  modelled,
  published,
  type TableTool,
  unconfirmed,
  type View,
  type WriteCall,
  type WriteForm,
  type WriteResult,
  type Writes,
} from '../tool.ts';

/** One interface as `ifconfig` prints it. */
interface Block {
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

const source = apple('ifconfig.c, ifbridge.c and ifclone.c of network_cmds: silent, or the failed request; exit 1');

const forms: readonly WriteForm[] = [
  {
    form: 'bridge0 create',
    match: "'2:bridge0 create'",
    source: unconfirmed('ifconfig bridge0 create makes a bridge without members, and refuses one that is there'),
  },
  {
    form: 'bridge0 addm INTERFACE',
    match: "'3:bridge0 addm '*",
    source: unconfirmed('ifconfig bridge0 addm takes a Thunderbolt interface, which then holds no address'),
  },
  { form: 'bridge0 up', match: "'2:bridge0 up'", source: apple('ifconfig(8) of macOS: up marks an interface up') },
  { form: 'bridge0 deletem INTERFACE', match: "'3:bridge0 deletem '*", source },
  { form: 'bridge0 destroy', match: "'2:bridge0 destroy'", source },
  { form: 'INTERFACE inet ADDRESS netmask MASK', match: "5:en*' inet '*' netmask '*", source },
  { form: 'INTERFACE inet ADDRESS -alias', match: "4:en*' inet '*' -alias'", source },
];

/** The network after the change, or what ifconfig says. */
type Change = LiveNetwork | { readonly wrong: string };

function withNewBridge({ live }: MacState, isRoot: boolean): Change {
  if (!isRoot) return { wrong: `SIOCIFCREATE2: ${forbidden.bridge}` };
  return live.bridge === undefined ? { ...live, bridge: [] } : { wrong: 'SIOCIFCREATE2: File exists' };
}

function withMember({ live, receptacles }: MacState, device: string, isRoot: boolean): Change {
  const members = live.bridge ?? [];
  if (!isRoot) return { wrong: `BRDGADD ${device}: ${forbidden.bridge}` };
  if (!receptacles.some((one) => one.device === device))
    return { wrong: `BRDGADD ${device}: No such file or directory` };
  return members.includes(device)
    ? { wrong: `BRDGADD ${device}: File exists` }
    : { ...live, bridge: [...members, device] };
}

/** The words of errno for requests of who is not root; `Perror` of ifconfig.c has its own. */
const forbidden = { bridge: 'Operation not permitted', address: 'permission denied' } as const;

function withoutMember({ live }: MacState, device: string, isRoot: boolean): Change {
  const members = live.bridge ?? [];
  if (!isRoot) return { wrong: `BRDGDEL ${device}: ${forbidden.bridge}` };
  if (!members.includes(device)) return { wrong: `BRDGDEL ${device}: No such file or directory` };
  return { ...live, bridge: members.filter((one) => one !== device) };
}

function withoutBridge({ live }: MacState, isRoot: boolean): Change {
  const { bridge: _, ...rest } = live;
  return isRoot ? rest : { wrong: `SIOCIFDESTROY: ${forbidden.bridge}` };
}

/** A netmask in dots, or as ifconfig itself prints it. */
function prefixOf(mask: string): number | undefined {
  const [, digits] = /^0x([0-9a-fA-F]{8})$/.exec(mask) ?? [];
  const octets = digits?.match(/../g)?.map((octet) => Number.parseInt(octet, 16));
  return maskLength(octets?.join('.') ?? mask);
}

function withAddress({ live }: MacState, device: string, address: InterfaceAddress, isRoot: boolean): Change {
  if (!isRoot) return { wrong: `ioctl (SIOCAIFADDR): ${forbidden.address}` };
  return { ...live, addresses: { ...live.addresses, [device]: address } };
}

function withoutAddress({ fleet, mac }: View, device: string, address: string, isRoot: boolean): Change {
  const receptacle = mac.receptacles.find((one) => one.device === device);
  const held = receptacle === undefined ? undefined : liveAddress(fleet, mac, receptacle);
  if (!isRoot) return { wrong: `ioctl (SIOCDIFADDR): ${forbidden.address}` };
  if (held?.address !== address) return { wrong: "ioctl (SIOCDIFADDR): Can't assign requested address" };
  return { ...mac.live, addresses: { ...mac.live.addresses, [device]: 'none' } };
}

const interfacesOf = (mac: MacState): readonly string[] => [
  ...mac.receptacles.map(({ device }) => device),
  ...(mac.live.bridge === undefined ? [] : ['bridge0']),
];

function changed(view: View, { args, isRoot }: WriteCall): Change | undefined {
  const { mac } = view;
  const [device = '', verb, word = '', option, mask = ''] = args;
  if (verb === 'create') return withNewBridge(mac, isRoot);
  if (!interfacesOf(mac).includes(device)) return { wrong: `interface ${device} does not exist` };
  if (verb === 'up') return isRoot ? mac.live : { wrong: `SIOCSIFFLAGS: ${forbidden.bridge}` };
  if (verb === 'addm') return withMember(mac, word, isRoot);
  if (verb === 'deletem') return withoutMember(mac, word, isRoot);
  if (verb === 'destroy') return withoutBridge(mac, isRoot);
  const prefixLength = prefixOf(mask);
  if (ipv4Number(word) === undefined) return undefined;
  if (option === '-alias') return withoutAddress(view, device, word, isRoot);
  return prefixLength === undefined ? undefined : withAddress(mac, device, { address: word, prefixLength }, isRoot);
}

function write(view: View, call: WriteCall): WriteResult | undefined {
  const { fleet, mac } = view;
  const change = changed(view, call);
  if (change === undefined) return undefined;
  if ('wrong' in change) return { fleet, stderr: lines(`ifconfig: ${change.wrong}`), exitCode: 1 };
  return { fleet: withMac(fleet, mac.name, (one) => ({ ...one, live: change })) };
}

/** The forms of `ifconfig` that change the running system, and nothing that lasts. */
const ifconfigWrites: Writes = { forms, write };

const all = modelled(
  'ifconfig-a.m3ultra.en7-own-address.modelled.txt',
  'test data of a two-Mac cluster tool, Mac Studio M3 Ultra',
);
const bridge = capture('ifconfig-bridge0.m4pro-mini.tn3205-elided.txt', 'Apple TN3205');
const single = capture('ifconfig-en2.tn3205.txt', 'Apple TN3205');

/** `ifconfig -a`, `ifconfig -l` and `ifconfig NAME`, and what changes the bridge and addresses. */
export const ifconfig: TableTool = {
  kind: 'table',
  path: '/sbin/ifconfig',
  rows: (view) => {
    const interfaces = allInterfaces(view);
    return [
      { args: ['-a'], source: all, stdout: interfaces.map(({ text }) => text).join('') },
      {
        args: ['-l'],
        source: unconfirmed('ifconfig -l prints all names in one line'),
        stdout: lines(interfaces.map(({ name }) => name).join(' ')),
      },
      ...interfaces.map(({ name, text }) => ({
        args: [name],
        source: name === 'bridge0' ? bridge : single,
        stdout: text,
      })),
    ];
  },
  patterns: [
    {
      match: '1:en[0-9] | 1:en[0-9][0-9] | 1:bridge[0-9] | 1:utun[0-9]',
      body: 'printf \'ifconfig: interface %s does not exist\\n\' "$1" >&2; exit 1',
      source: published('ifconfig of an interface that does not exist: exit 1'),
    },
  ],
  writes: ifconfigWrites,
  usage: {
    text: lines(
      'usage: ifconfig interface address_family [address [dest_address]]',
      '                [parameters]',
      '       ifconfig interface create',
      '       ifconfig -a [-L] [-m] [-r] [-v] [-z] [address_family]',
      '       ifconfig -l [address_family]',
      '       ifconfig [-L] [-m] [-r] [-v] [-z] interface',
    ),
    exitCode: 1,
    source: unconfirmed("ifconfig's usage text and exit code 1"),
  },
};
