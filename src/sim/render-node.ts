import { accountsPath, accountsText } from './model/directory.ts';
import { type MacState, macBehind, type Panic, peerAt, type SimulatedFleet } from './model/fleet.ts';
import { isBridged, liveAddress, preferencesPath } from './model/network.ts';
import { dataFile, type NodeFile } from './model/node-files.ts';
import { type PlistDict, plistText } from './model/plist.ts';
import { isPortActive, isPortDead, rdmaDevice, rdmaReceptacles } from './model/rdma.ts';
import { seededUuid } from './model/seed.ts';
import { routesPath, routesText } from './tools/ifconfig.ts';
import { rdmaKernelFiles } from './tools/io-registry.ts';
import { tools } from './tools/registry.ts';
import type { View } from './tools/tool.ts';
import { seenCopy, toolFiles } from './tools/tool-script.ts';

/** ENOMEM: what a program that opens a device gets where no protection domain is left. */
const noDomains = 'alloc_pd 12\n';

/**
 * Every file of this node's root that depends on the state of the fleet, sorted by path; empty for a name that is not
 * in the fleet. The host writes them whenever the state changes and removes those that are gone.
 */
export function nodeFiles(fleet: SimulatedFleet, node: string): readonly NodeFile[] {
  const mac = macBehind(fleet, node);
  if (mac === undefined) return [];
  const room = mac.ailments.diskRoomBytes;
  const files = [
    dataFile(accountsPath, accountsText(mac.directory)),
    dataFile('/.sim/sudo', `${mac.sudo}\n`),
    dataFile('/.sim/password', `${mac.password}\n`),
    dataFile('/.sim/clock-offset', `${mac.clockOffsetSeconds}\n`),
    ...[preferencesPath, seenCopy(preferencesPath)].map((path) => dataFile(path, plistText(mac.preferences))),
    ...Object.entries(mac.domains).map(([path, dict]) => dataFile(`${path}.plist`, plistText(dict))),
    dataFile(screenSharingPath, plistText(screenSharingJob)),
    ...(room === undefined ? [] : [dataFile('/.sim/room', `${room}\n`)]),
    ...(mac.ailments.lacksDomains ? [dataFile('/.sim/verbs', noDomains)] : []),
    ...(mac.ailments.panicsUnderTcp ? [dataFile('/.sim/tcp-panics', '')] : []),
    ...rdmaKernelFiles(mac),
    dataFile(rdmaCablesPath, rdmaCablesText({ fleet, mac })),
    ...panicReportFiles(mac),
    dataFile(routesPath, routesText({ fleet, mac })),
    ...tools.flatMap((tool) => toolFiles(tool, { fleet, mac })),
  ];
  return files.sort((one, other) => (one.path < other.path ? -1 : one.path > other.path ? 1 : 0));
}

/** The job of Screen Sharing, which comes with macOS. */
const screenSharingPath = '/System/Library/LaunchDaemons/com.apple.screensharing.plist';

/** As macOS ships it, switched off; without its sockets, since nobody connects to it here. */
const screenSharingJob: PlistDict = {
  Disabled: true,
  Label: 'com.apple.screensharing',
  ProgramArguments: [
    '/System/Library/CoreServices/RemoteManagement/screensharingd.bundle/Contents/MacOS/screensharingd',
  ],
};

const folder = '/Library/Logs/DiagnosticReports';

/** What the kernel says, and where macOS keeps the report under which name: all of them are seen on real Macs. */
interface Text {
  readonly reason: string;
  readonly extension: string;
  readonly file: (time: string) => string;
}

const texts: Readonly<Record<Panic['cause'], Text>> = {
  crash: {
    reason: 'Kernel data abort. at pc 0xfffffe0029f1a4c8, lr 0xfffffe0029f1a3a0',
    extension: 'com.apple.iokit.IOThunderboltFamily(9.3.3)',
    file: (time) => `Retired/panic-full-${time}.0002.panic`,
  },
  'tcp-load': {
    reason: 'Kernel data abort. at pc 0xfffffe002b6c1d04, lr 0xfffffe002b6c1b58',
    extension: 'com.apple.driver.AppleThunderboltIP(4.0.3)',
    file: (time) => `panic-base+socd-${time}.000.panic`,
  },
};

/** `2026-11-20 21:26:29`, in UTC. */
const timeText = (epochSeconds: number): string =>
  new Date(epochSeconds * 1000).toISOString().slice(0, 19).replace('T', ' ');

function reportOf(mac: MacState, { cause, atEpochSeconds }: Panic, at: number): NodeFile {
  const time = timeText(atEpochSeconds);
  const incident = seededUuid([mac.hardwareUuid, 'panic', at]);
  const { version, build } = mac.macos;
  const { reason, extension, file } = texts[cause];
  const head = {
    bug_type: '210',
    timestamp: `${time}.00 +0000`,
    os_version: `macOS ${version} (${build})`,
    roots_installed: 0,
    incident_id: incident,
  };
  const said = [
    `panic(cpu 4 caller 0xfffffe0029c35b10): ${reason}`,
    'Debugger message: panic',
    `OS version: ${build}`,
    'Kernel Extensions in backtrace:',
    `   ${extension}[${incident}]@0xfffffe002b6b4000->0xfffffe002b6cffff`,
    '',
  ].join('\n');
  const lines = [
    JSON.stringify(head),
    '{',
    `  "build" : "macOS ${version} (${build})",`,
    `  "product" : "${mac.model.id}",`,
    `  "incident" : "${incident}",`,
    `  "date" : "${time}.00 +0000",`,
    `  "panicString" : ${JSON.stringify(said)}`,
    '}',
  ];
  const name = file(time.replace(' ', '-').replaceAll(':', ''));
  return dataFile(`${folder}/${name}`, lines.map((line) => `${line}\n`).join(''));
}

/** The reports of kernel panics that macOS has written, as files. */
const panicReportFiles = (mac: MacState): readonly NodeFile[] =>
  (mac.panics ?? []).map((panic, at) => reportOf(mac, panic, at));

/** What the RDMA devices of a Mac lead to, for simulated runtimes, which find it beside the table of link addresses. */
export const rdmaCablesPath = '/.sim/rdma-cables';

const none = '-';

/**
 * One line for each device: its name, the IPv4 address of its GID, whether its port is `active`, this Mac, and the Mac
 * and the device that it comes through to; `-` for what there is none of.
 */
const rdmaCablesText = ({ fleet, mac }: View): string =>
  rdmaReceptacles(mac)
    .map((receptacle) => {
      const address = isBridged(mac, receptacle.device) ? undefined : liveAddress(fleet, mac, receptacle)?.address;
      const isActive = isPortActive(fleet, mac, receptacle);
      const peer = peerAt(fleet, { node: mac.name, receptacle: receptacle.number });
      const isThrough = isActive && !isPortDead(mac, receptacle) && peer !== undefined;
      const far = isThrough && !isPortDead(peer.mac, peer.receptacle) ? peer : undefined;
      const end = far === undefined ? `${none} ${none}` : `${far.mac.name} ${rdmaDevice(far.receptacle)}`;
      return `${rdmaDevice(receptacle)} ${address ?? none} ${isActive ? 'active' : 'down'} ${mac.name} ${end}\n`;
    })
    .join('');
