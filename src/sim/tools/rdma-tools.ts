import { cableAt, megabitsPerGigabit } from '../model/cables.ts';
import { carriedSpeed, carrierAt, type ReceptacleState } from '../model/fleet.ts';
import { ipv4Number, linkLocalText } from '../model/ip-text.ts';
import { hasRdmaTools } from '../model/macos-builds.ts';
import { isBridged, isCabled, liveAddress } from '../model/network.ts';
import { dataFile, type NodeFile } from '../model/node-files.ts';
import {
  isPortActive,
  mappedGidIndex,
  nodeGuid,
  rdmaDevice,
  rdmaLimit,
  rdmaPeer,
  rdmaReceptacles,
  verbsDevicesPath,
  verbsHungPath,
} from '../model/rdma.ts';
import { from, lines, type Pattern, type Row, row, type Tool, type ToolView, unconfirmedUsage, usage } from './tool.ts';

const publisher = 'test data of a two-Mac cluster tool, Mac Studio M3 Ultra';
const short = from.modelled('ibv_devinfo.m3ultra.en7-active.modelled.txt', publisher);
const verbose = from.modelled('ibv_devinfo-v.rdma_en7.mapped-gid.modelled.txt', publisher);

/** A MAC address's EUI-64 link-local address: the universal bit inverted, `ff:fe` in the middle. */
function eui64LinkLocal(macAddress: string): string {
  const octets = macAddress.split(':').map((octet) => Number.parseInt(octet, 16));
  const [first = 0, second = 0, third = 0, ...rest] = octets;
  return linkLocalText([first ^ 2, second, third, 0xff, 0xfe, ...rest]);
}

/**
 * The GID table of a receptacle's device. The link-local GID is derived from the MAC address. An IPv4-mapped GID exists
 * only while the interface itself has an IPv4 address, which a bridged interface never has (Apple TN3205).
 */
function gidsOf({ fleet, mac }: ToolView, receptacle: ReceptacleState): readonly string[] {
  const first = eui64LinkLocal(receptacle.macAddress);
  const hasCarrier = carrierAt(fleet, mac, receptacle) !== undefined;
  if (isBridged(mac, receptacle.device) || !(hasCarrier || isCabled(fleet, mac, receptacle))) return [first];
  const live = liveAddress(fleet, mac, receptacle);
  const mapped = live === undefined ? [] : [`::ffff:${live.address}`];
  const own = hasCarrier ? [receptacle.linkLocal] : [];
  return [first, ...own].toSpliced(mappedGidIndex(receptacle), 0, ...mapped);
}

const mappedStart = '::ffff:';

const groupBytes = (groups: string): string =>
  groups
    .split(':')
    .map((group) => (group === '' ? '' : group.padStart(4, '0')))
    .join('');

/** The 16 bytes of a GID in hexadecimal digits. */
function gidBytes(gid: string): string {
  const address = gid.startsWith(mappedStart) ? ipv4Number(gid.slice(mappedStart.length)) : undefined;
  if (address !== undefined) return `${'0'.repeat(20)}ffff${address.toString(16).padStart(8, '0')}`;
  const [head = '', tail = ''] = gid.split('::').map(groupBytes);
  return `${head.padEnd(32 - tail.length, '0')}${tail}`;
}

/** Error numbers of macOS: ENOMEM without a protection domain, EBUSY, and ETIMEDOUT if the cable carries nothing. */
const [noMemory, busy, timedOut] = [12, 16, 60];

function verbsDevice(view: ToolView, receptacle: ReceptacleState): readonly string[] {
  const { fleet, mac } = view;
  const limit = rdmaLimit(mac);
  const peer = rdmaPeer(fleet, mac, receptacle);
  const peerGids = peer === undefined ? [] : gidsOf({ fleet, mac: peer.mac }, peer.receptacle);
  const cable = cableAt(fleet.cables, { node: mac.name, receptacle: receptacle.number });
  const settings = {
    ...{ state: isPortActive(fleet, mac, receptacle) ? 4 : 1, max_qp: limit, max_cq: limit, max_pd: limit },
    ...(mac.ailments.lacksDomains && { alloc_pd_error: noMemory }),
    ...(mac.ailments.refusesQueuePairs && { rtr_error: busy }),
    ...(peer === undefined && { rtr_error: timedOut }),
    ...(cable !== undefined && { rate_mbit: carriedSpeed(fleet, cable) * megabitsPerGigabit }),
  };
  return [
    `device ${Buffer.from(`${rdmaDevice(receptacle)}\0`).toString('hex')}`,
    `guid ${nodeGuid(receptacle)}`,
    ...Object.entries(settings).map(([field, value]) => `set ${field} ${value}`),
    ...gidsOf(view, receptacle).map((gid, index) => `gid ${index} ${gidBytes(gid)}`),
    ...peerGids.map((gid) => `peer ${gidBytes(gid)}`),
  ];
}

/** The devices for the verbs library of a Mac; empty for a macOS without that library. */
export const verbsFiles = (view: ToolView): readonly NodeFile[] =>
  hasRdmaTools(view.mac.macos.version)
    ? [dataFile(verbsDevicesPath, lines(...rdmaReceptacles(view.mac).flatMap((one) => verbsDevice(view, one))))]
    : [];

function deviceBlock({ fleet, mac }: ToolView, receptacle: ReceptacleState, isVerbose: boolean): string {
  const guid = nodeGuid(receptacle).replaceAll(/....(?=.)/g, '$&:');
  const limit = rdmaLimit(mac);
  const state = isPortActive(fleet, mac, receptacle) ? 'PORT_ACTIVE (4)' : 'PORT_DOWN (1)';
  const limits = [
    '\tmax_mr_size:\t\t\t0xfa0000',
    `\tmax_qp:\t\t\t\t${limit}`,
    `\tmax_cq:\t\t\t\t${limit}`,
    '\tmax_mr:\t\t\t\t100',
    `\tmax_pd:\t\t\t\t${limit}`,
    '\tatomic_cap:\t\t\tATOMIC_NONE (0)',
    '\tnum_comp_vectors:\t\t1',
  ];
  const table = [
    '\t\t\tgid_tbl_len:\t\t1024',
    '\t\t\tactive_width:\t\t8X (4)',
    '\t\t\tactive_speed:\t\t10.0 Gbps (4)',
    ...gidsOf({ fleet, mac }, receptacle).map((gid, index) => `\t\t\tGID[${String(index).padStart(3)}]:\t\t${gid}`),
  ];
  return lines(
    `hca_id:\t${rdmaDevice(receptacle)}`,
    '\ttransport:\t\t\tThunderbolt (100)',
    `\tnode_guid:\t\t\t${guid}`,
    `\tsys_image_guid:\t\t\t${guid}`,
    '\tvendor_id:\t\t\t0x0000',
    '\tvendor_part_id:\t\t\t0',
    '\thw_ver:\t\t\t\t0x0',
    '\tphys_port_cnt:\t\t\t1',
    ...(isVerbose ? limits : []),
    '\t\tport:\t1',
    `\t\t\tstate:\t\t\t${state}`,
    '\t\t\tmax_mtu:\t\t4096 (5)',
    '\t\t\tactive_mtu:\t\t4096 (5)',
    '\t\t\tsm_lid:\t\t\t1',
    '\t\t\tport_lid:\t\t1',
    '\t\t\tport_lmc:\t\t0x00',
    '\t\t\tlink_layer:\t\tThunderbolt',
    ...(isVerbose ? table : []),
    '',
  );
}

const nothing = from.unconfirmed(
  'ibv_devinfo without any device prints "No IB devices found" on stderr and exits with 255',
);

function rows(view: ToolView): readonly Row[] {
  if (view.mac.ailments.isVerbsHung) return [];
  const receptacles = rdmaReceptacles(view.mac);
  if (receptacles.length === 0) {
    const stderr = lines('No IB devices found');
    return [[], ['-v']].map((args) => ({ args, source: nothing, stderr, exitCode: 255 }));
  }
  const all = (isVerbose: boolean): string => receptacles.map((one) => deviceBlock(view, one, isVerbose)).join('');
  return [
    row([], short, all(false)),
    row(['-v'], verbose, all(true)),
    ...receptacles.flatMap((receptacle) => {
      const device = rdmaDevice(receptacle);
      const stdout = deviceBlock(view, receptacle, true);
      return [
        row(['-d', device], short, deviceBlock(view, receptacle, false)),
        row(['-v', '-d', device], verbose, stdout),
        row(['-d', device, '-v'], verbose, stdout),
      ];
    }),
  ];
}

/** A verbs tool that never returns, because the driver is deadlocked. */
const verbsHang = (match: string): Pattern => ({
  match,
  body: `[ ! -e "$r${verbsHungPath}" ] || exec "$r/bin/sleep" 86400`,
  source: from.published('SQCU/mesh, RDMA-RULES.md: ibv_devinfo hangs because of a deadlock in the driver'),
});

const notFound = (match: string, device: string): Pattern => ({
  match,
  body: `printf "IB device '%s' wasn't found\\n" "${device}" >&2; exit 255`,
  source: from.unconfirmed("ibv_devinfo -d with a missing device prints the Linux tool's text and exits with 255"),
});

/** `ibv_devinfo`: describes all devices or one, with or without limits and GIDs. */
export const ibvDevinfo: Tool = {
  path: '/usr/bin/ibv_devinfo',
  isPresent: (mac) => hasRdmaTools(mac.macos.version),
  rows,
  patterns: [
    verbsHang("'0:' | '1:-v' | '2:-d rdma_'*"),
    notFound("'2:-d rdma_'* | '3:-d rdma_'*' -v'", '$2'),
    notFound("'3:-v -d rdma_'*", '$3'),
  ],
  usage: unconfirmedUsage('ibv_devinfo', 255, 'Usage: ibv_devinfo             print the ca attributes'),
};

const lineOfList = from.modelled(
  'nvram-p.rdma-enable-on.reduced.txt',
  'dev7a/rdmalink, macOS 27.2, reduced to three variables',
);

const neverEnabled: Row = {
  args: ['rdma-enable'],
  source: from.published('terminal logs of other variables; nvram.c of Apple'),
  stderr: lines("nvram: Error getting variable - 'rdma-enable': (iokit/common) data was not found"),
  exitCode: 1,
};

/** `nvram NAME`: prints name and value, separated by a tab. The variable does not exist if RDMA was never enabled. */
export const nvram: Tool = {
  path: '/usr/sbin/nvram',
  rows: ({ mac }) => [mac.isRdmaEnabled ? row(['rdma-enable'], lineOfList, lines('rdma-enable\t1')) : neverEnabled],
  usage: unconfirmedUsage('nvram', 1, 'nvram: (usage: no arguments given)'),
};

const status = from.capture('rdma_ctl-status.m3ultra.enabled.txt', 'research note of an Apple-cluster monitor');
const refused = from.capture('rdma_ctl-enable.outside-recovery.stderr.txt', 'github.com/SQCU/mesh');

const outsideRecovery = (verb: string): Row => ({
  args: [verb],
  source: refused,
  stderr: lines('rdma_ctl: This tool needs to be executed from Recovery OS.'),
  exitCode: 77,
});

/** `rdma_ctl`: prints one word about NVRAM; changes need Recovery. The tool does not exist before macOS 26.2. */
export const rdmaCtl: Tool = {
  path: '/usr/bin/rdma_ctl',
  isPresent: (mac) => hasRdmaTools(mac.macos.version),
  rows: ({ mac: { isRdmaEnabled } }) => [
    row(['status'], isRdmaEnabled ? status : from.apple('TN3205'), lines(isRdmaEnabled ? 'enabled' : 'disabled')),
    outsideRecovery('enable'),
    outsideRecovery('disable'),
  ],
  usage: unconfirmedUsage('rdma_ctl', 64, 'usage: rdma_ctl [enable | disable | status]'),
};

const listed = from.capture('ibv_devices.m3ultra.six-ports.txt', 'research note of an Apple-cluster monitor');
const heading = ['    device              node GUID', '    ------          ----------------'];
const deviceLine = (receptacle: ReceptacleState): string =>
  `    ${rdmaDevice(receptacle).padEnd(16)}${nodeGuid(receptacle)}`;

/** `ibv_devices`: prints two header lines, then one line per receptacle; without RDMA only the header. */
export const ibvDevices: Tool = {
  path: '/usr/bin/ibv_devices',
  isPresent: (mac) => hasRdmaTools(mac.macos.version),
  rows: ({ mac }) =>
    mac.ailments.isVerbsHung ? [] : [row([], listed, lines(...heading, ...rdmaReceptacles(mac).map(deviceLine)))],
  patterns: [verbsHang("'0:'")],
  usage: usage(1, from.unconfirmed('ibv_devices accepts no arguments; its output for an argument is unknown')),
};
