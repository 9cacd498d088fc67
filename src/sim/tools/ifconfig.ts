import { given } from '../../model/given.ts';
import { carrierAt, type InterfaceAddress, type MacState, type ReceptacleState } from '../model/fleet.ts';
import { ipv4Number, ipv4Text, maskLength, maskNumber, networkOf } from '../model/ip-text.ts';
import { bridgeAddress, isBridged, liveAddress, receptacleWith, routerOver, servicesIn } from '../model/network.ts';
import { from, lines, row, type Tool, type ToolChange, type ToolView, unconfirmedUsage } from './tool.ts';

const up = 'flags=8863<UP,BROADCAST,SMART,RUNNING,SIMPLEX,MULTICAST> mtu 1500';
const member = 'flags=8963<UP,BROADCAST,SMART,RUNNING,PROMISC,SIMPLEX,MULTICAST> mtu 1500';
const neighbours = '\tnd6 options=201<PERFORMNUD,DAD>';

const block = (name: string, ...texts: readonly string[]) => ({ name, text: lines(...texts) });

type Block = ReturnType<typeof block>;

const loopback = block(
  'lo0',
  'lo0: flags=8049<UP,LOOPBACK,RUNNING,MULTICAST> mtu 16384',
  '\toptions=1203<RXCSUM,TXCSUM,TXSTATUS,SW_TIMESTAMP>',
  '\tinet 127.0.0.1 netmask 0xff000000',
  '\tinet6 ::1 prefixlen 128 ',
  '\tinet6 fe80::1%lo0 prefixlen 64 scopeid 0x1 ',
  neighbours,
);
const tunnels: readonly Block[] = [
  block('gif0', 'gif0: flags=8010<POINTOPOINT,MULTICAST> mtu 1280'),
  block('stf0', 'stf0: flags=0<> mtu 1280'),
];
/** An interface without a status line, as in the published list of an M3 Ultra. */
const nan = (macAddress: string): Block =>
  block(
    'nan0',
    'nan0: flags=8822<BROADCAST,SMART,SIMPLEX,MULTICAST> mtu 1500',
    '\toptions=400<CHANNEL_IO>',
    `\tether ${macAddress}`,
  );

/** macOS numbers interfaces from 1 in creation order, which is also the list's order. */
const scopeOf = (index: number): string => `0x${index.toString(16)}`;

const inet6Line = (address: string, name: string, index: number): string =>
  `\tinet6 ${address}%${name} prefixlen 64 secured scopeid ${scopeOf(index)} `;

function inetLine({ address, prefixLength }: InterfaceAddress): string {
  const mask = maskNumber(prefixLength).toString(16).padStart(8, '0');
  const { first, size } = networkOf(address, prefixLength);
  return `\tinet ${address} netmask 0x${mask} broadcast ${ipv4Text(first + size - 1)}`;
}

/** Every interface, in the order of `ifconfig -a`. */
function allInterfaces(view: ToolView): readonly Block[] {
  const { mac } = view;
  const before = [loopback, ...tunnels];
  const ports = [...mac.ports, ...mac.receptacles]
    .toSorted((one, other) => Number(one.device.slice(2)) - Number(other.device.slice(2)))
    .map((one, position) => {
      const index = before.length + 1 + position;
      return 'kind' in one ? portBlock(view, one, index) : receptacleBlock(view, one, index);
    });
  const wifi = mac.ports.find((port) => port.kind === 'wifi')?.macAddress ?? '';
  const bridges = mac.live.bridge === undefined ? [] : [bridgeBlock(view, mac.live.bridge)];
  return [...before, ...ports, ...bridges, nan(wifi)];
}

function portBlock({ mac }: ToolView, port: MacState['ports'][number], index: number): Block {
  const { device } = port;
  const isLan = device === mac.lan.device;
  const addresses = isLan
    ? [inet6Line(mac.lan.linkLocal, device, index), inetLine({ address: mac.lan.address, prefixLength: 24 })]
    : [];
  return block(
    device,
    `${device}: ${up}`,
    port.kind === 'adapter' ? '\toptions=400<CHANNEL_IO>' : '\toptions=460<TSO4,TSO6,CHANNEL_IO>',
    `\tether ${port.macAddress}`,
    ...addresses,
    neighbours,
    port.kind === 'adapter' ? '\tmedia: none' : `\tmedia: autoselect${isLan ? ' <full-duplex>' : ''}`,
    `\tstatus: ${isLan ? 'active' : 'inactive'}`,
  );
}

function receptacleBlock(view: ToolView, receptacle: ReceptacleState, index: number): Block {
  const { fleet, mac } = view;
  const { device } = receptacle;
  const isMember = isBridged(mac, device);
  const isActive = carrierAt(fleet, mac, receptacle) !== undefined;
  const live = liveAddress(fleet, mac, receptacle);
  return block(
    device,
    `${device}: ${isMember ? member : up}`,
    '\toptions=460<TSO4,TSO6,CHANNEL_IO>',
    `\tether ${receptacle.macAddress}`,
    ...(isActive && !isMember ? [inet6Line(receptacle.linkLocal, device, index)] : []),
    ...(live === undefined ? [] : [inetLine(live)]),
    ...(isMember ? [] : [neighbours]),
    '\tmedia: autoselect <full-duplex>',
    `\tstatus: ${isActive ? 'active' : 'inactive'}`,
  );
}

/** `bridge0` with its members. Its spanning tree is listed but not running, so every id is zero. */
function bridgeBlock({ fleet, mac }: ToolView, bridged: readonly string[]): Block {
  const address = bridgeAddress(fleet, mac);
  const members = bridged.flatMap((device, index) => [
    `\tmember: ${device} flags=3<LEARNING,DISCOVER>`,
    `\t        ifmaxaddr 0 port ${11 + index} priority 0 path cost 0`,
  ]);
  return block(
    'bridge0',
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
}

const source = from.apple(
  'ifconfig.c, ifbridge.c and ifclone.c of network_cmds: silent, or the failed request; exit 1',
);

/** Error messages for requests without root. ifconfig.c's `Perror` has its own text. */
const forbidden = { bridge: 'Operation not permitted', address: 'permission denied' } as const;

const failed = (why: string) => ({ stderr: lines(`ifconfig: ${why}`), exitCode: 1 });

const notThere = (device: string) => failed(`interface ${device} does not exist`);

const createBridge: ToolChange = ({ mac: { live }, isRoot }) => {
  if (!isRoot) return failed(`SIOCIFCREATE2: ${forbidden.bridge}`);
  if (live.bridge !== undefined) return failed('SIOCIFCREATE2: File exists');
  return { after: { live: { ...live, bridge: [] } } };
};

type Live = MacState['live'];

/** A request by root about the bridge: returns the network afterwards, or the kernel's refusal. */
const ofBridge =
  (request: string, change: (mac: MacState, bridge: readonly string[], device: string) => Live | string): ToolChange =>
  ({ mac, isRoot, words }) => {
    const { bridge } = mac.live;
    if (bridge === undefined) return notThere('bridge0');
    const live = isRoot ? change(mac, bridge, words[0] ?? '') : forbidden.bridge;
    return typeof live === 'string' ? failed(`${[request, ...words].join(' ')}: ${live}`) : { after: { live } };
  };

const addMember = ofBridge('BRDGADD', (mac, bridge, device) => {
  if (receptacleWith(mac, device) === undefined) return 'No such file or directory';
  return bridge.includes(device) ? 'File exists' : { ...mac.live, bridge: [...bridge, device] };
});

const deleteMember = ofBridge('BRDGDEL', ({ live }, bridge, device) =>
  bridge.includes(device) ? { ...live, bridge: bridge.filter((one) => one !== device) } : 'No such file or directory',
);

const markUp = ofBridge('SIOCSIFFLAGS', ({ live }) => live);

const destroyBridge = ofBridge('SIOCIFDESTROY', ({ live: { bridge: _, ...live } }) => live);

/** Parses a dotted netmask or one in ifconfig's form. */
function prefixOf(mask: string): number | undefined {
  const [, digits] = /^0x([0-9a-fA-F]{8})$/.exec(mask) ?? [];
  const octets = digits?.match(/../g)?.map((octet) => Number.parseInt(octet, 16));
  return maskLength(octets?.join('.') ?? mask);
}

const withAddress = ({ live }: MacState, device: string, address: InterfaceAddress | 'none') => ({
  after: { live: { ...live, addresses: { ...live.addresses, [device]: address } } },
});

const setAddress: ToolChange = ({ mac, isRoot, words: [rest = '', address = '', mask = ''] }) => {
  const receptacle = receptacleWith(mac, `en${rest}`);
  const prefixLength = prefixOf(mask);
  if (receptacle === undefined) return notThere(`en${rest}`);
  if (ipv4Number(address) === undefined || prefixLength === undefined) return undefined;
  if (!isRoot) return failed(`ioctl (SIOCAIFADDR): ${forbidden.address}`);
  return withAddress(mac, receptacle.device, { address, prefixLength });
};

const deleteAddress: ToolChange = ({ fleet, mac, isRoot, words: [rest = '', address = ''] }) => {
  const receptacle = receptacleWith(mac, `en${rest}`);
  if (receptacle === undefined) return notThere(`en${rest}`);
  if (ipv4Number(address) === undefined) return undefined;
  if (!isRoot) return failed(`ioctl (SIOCDIFADDR): ${forbidden.address}`);
  return liveAddress(fleet, mac, receptacle)?.address === address
    ? withAddress(mac, receptacle.device, 'none')
    : failed("ioctl (SIOCDIFADDR): Can't assign requested address");
};

const all = from.modelled(
  'ifconfig-a.m3ultra.en7-own-address.modelled.txt',
  'test data of a two-Mac cluster tool, Mac Studio M3 Ultra',
);
const bridge = from.capture('ifconfig-bridge0.m4pro-mini.tn3205-elided.txt', 'Apple TN3205');
const single = from.capture('ifconfig-en2.tn3205.txt', 'Apple TN3205');
const inOneLine = from.unconfirmed('ifconfig -l prints all names on one line');
const created = from.unconfirmed(
  'ifconfig bridge0 create creates a bridge without members, or exits with 1 if it exists',
);
const added = from.unconfirmed('ifconfig bridge0 addm adds a Thunderbolt interface, which then loses its address');

/** `ifconfig -a`, `ifconfig -l` and `ifconfig NAME`, and changes of the bridge and addresses. */
export const ifconfig: Tool = {
  path: '/sbin/ifconfig',
  rows: (view) => {
    const interfaces = allInterfaces(view);
    return [
      row(['-a'], all, interfaces.map(({ text }) => text).join('')),
      row(['-l'], inOneLine, lines(interfaces.map(({ name }) => name).join(' '))),
      ...interfaces.map(({ name, text }) => row([name], name === 'bridge0' ? bridge : single, text)),
    ];
  },
  patterns: [
    {
      match: '1:en[0-9] | 1:en[0-9][0-9] | 1:bridge[0-9] | 1:utun[0-9]',
      body: 'printf \'ifconfig: interface %s does not exist\\n\' "$1" >&2; exit 1',
      source: from.published('ifconfig with an interface that does not exist: exit 1'),
    },
  ],
  writes: [
    { form: 'bridge0 create', source: created, change: createBridge },
    { form: 'bridge0 addm INTERFACE', source: added, change: addMember },
    { form: 'bridge0 up', source: from.apple('ifconfig(8) of macOS: up marks an interface up'), change: markUp },
    { form: 'bridge0 deletem INTERFACE', source, change: deleteMember },
    { form: 'bridge0 destroy', source, change: destroyBridge },
    { form: 'en* inet ADDRESS netmask MASK', source, change: setAddress },
    { form: 'en* inet ADDRESS -alias', source, change: deleteAddress },
  ],
  usage: unconfirmedUsage(
    'ifconfig',
    1,
    'usage: ifconfig interface address_family [address [dest_address]]',
    '                [parameters]',
    '       ifconfig interface create',
    '       ifconfig -a [-L] [-m] [-r] [-v] [-z] [address_family]',
    '       ifconfig -l [address_family]',
    '       ifconfig [-L] [-m] [-r] [-v] [-z] interface',
  ),
};

/**
 * File with the output of `netstat -rn -f inet` on a node. Columns and flags are those of the captured table
 * `netstat-rn-inet.m3ultra.default-via-peer.txt` (public Swift test fixtures, Mac Studio M3 Ultra).
 */
export const routesPath = '/.sim/answers/netstat/-rn_-f_inet.out';

/** One line with the columns of the captured table; `expires` is `!` for an entry that ends with its interface. */
const route = (to: string, by: string, flags: string, device: string, expires = ''): string =>
  `${to.padEnd(18)} ${by.padEnd(18)} ${flags.padEnd(19)} ${device.padStart(5)} ${expires.padStart(6)}`;

/** The prefix length of an address according to the historical classes. */
const classLength = (address: string): number => {
  const first = Number(address.split('.')[0]);
  return first < 128 ? 8 : first < 192 ? 16 : 24;
};

/**
 * A network in netstat's form (route.c of Apple's network_cmds). It omits the octets of the class's host part if all of
 * them are zero, and the prefix length if it is that of the class.
 */
function networkName({ address, prefixLength }: InterfaceAddress): string {
  const octets = ipv4Text(networkOf(address, prefixLength).first).split('.');
  const own = classLength(address);
  const shown = [1, 2, 3].find((count) => count * 8 >= own && octets.slice(count).every((octet) => octet === '0')) ?? 4;
  return `${octets.slice(0, shown).join('.')}${prefixLength === own ? '' : `/${prefixLength}`}`;
}

interface Attached {
  readonly device: string;
  readonly address: InterfaceAddress;
  readonly router?: string;
}

/** Every interface with an IPv4 address, in the order of network services; the first router is the default router. */
function attached({ fleet, mac }: ToolView): readonly Attached[] {
  const services = servicesIn(mac.preferences).map(({ device }) => device);
  const place = ({ device }: Attached): number =>
    services.includes(device) ? services.indexOf(device) : services.length;
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
  const bridges = bridge === undefined ? [] : [{ device: 'bridge0', address: bridge }];
  return [office, ...cables, ...bridges].toSorted((one, other) => place(one) - place(other));
}

/** A Mac's routing table: the first interface has the default route, each other one a route bound to it. */
export function routesText(view: ToolView): string {
  const names = allInterfaces(view).map(({ name }) => name);
  const wire = (device: string): string => `link#${names.indexOf(device) + 1}`;
  const all = attached(view);
  const primary = all.find(({ router }) => router !== undefined)?.device ?? all[0]?.device ?? '';
  const defaults = all.flatMap(({ device, router }) =>
    router === undefined ? [] : [route('default', router, device === primary ? 'UGScg' : 'UGScIg', device)],
  );
  const networks = all.flatMap(({ device, address, router }) => {
    const ownRouter = router === undefined || device === primary ? [] : [`${router}/32`];
    const names = [networkName(address), ...ownRouter, `${address.address}/32`];
    return names.map((name) => route(name, wire(device), 'UCS', device, '!'));
  });
  return lines(
    'Routing tables',
    '',
    'Internet:',
    route('Destination', 'Gateway', 'Flags', 'Netif', 'Expire'),
    ...defaults,
    route('127', '127.0.0.1', 'UCS', 'lo0'),
    ...networks,
    route('224.0.0/4', wire(primary), 'UmCS', primary, '!'),
  );
}
