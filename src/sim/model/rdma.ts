import { type MacState, peerAt, type ReceptacleState, type SimulatedFleet } from './fleet.ts';
import { isBridged, liveAddress } from './interfaces.ts';
import { eui64LinkLocal } from './ip-text.ts';
import { hasRdmaTools } from './macos-builds.ts';
import { dataFile, type NodeFile } from './node-files.ts';

/**
 * Whether this Mac has RDMA devices and tells its neighbours so: enabled in NVRAM before it started, Thunderbolt 5 (a
 * Thunderbolt 4 Mac says "enabled" and has no device for ever, mlx issue 3777) and macOS 26.2 or later.
 */
export const isRdmaLive = (mac: MacState): boolean =>
  mac.isRdmaEnabled && mac.isRdmaWaiting !== true && mac.model.thunderbolt === 5 && hasRdmaTools(mac.macos.version);

/** The receptacles that have an RDMA device: all or none. */
export const rdmaReceptacles = (mac: MacState): readonly ReceptacleState[] => (isRdmaLive(mac) ? mac.receptacles : []);

/** `rdma_en3`, the device of a receptacle. */
export const rdmaDevice = (receptacle: ReceptacleState): string => `rdma_${receptacle.device}`;

/** The 16 digits of the node GUID: the octets of the switch UID the other way round, as all captures have them. */
export const nodeGuid = ({ switchUid }: ReceptacleState): string =>
  (switchUid.toLowerCase().match(/../g) ?? []).reverse().join('');

/** PORT_ACTIVE needs a cable, and RDMA at both of its ends (Apple TN3205). */
export function isPortActive(fleet: SimulatedFleet, mac: MacState, receptacle: ReceptacleState): boolean {
  const peer = peerAt(fleet, { node: mac.name, receptacle: receptacle.number });
  return isRdmaLive(mac) && peer !== undefined && isRdmaLive(peer.mac);
}

/**
 * The GID table of a receptacle's device. The first is made from the MAC address; an IPv4-mapped one is there only
 * while the interface itself has an IPv4 address, and a bridged interface has neither (Apple TN3205).
 */
export function gidsOf(fleet: SimulatedFleet, mac: MacState, receptacle: ReceptacleState): readonly string[] {
  const first = eui64LinkLocal(receptacle.macAddress);
  const peer = peerAt(fleet, { node: mac.name, receptacle: receptacle.number });
  if (isBridged(mac, receptacle.device) || peer === undefined) return [first];
  const live = liveAddress(fleet, mac, receptacle);
  const mapped = live === undefined ? [] : [`::ffff:${live.address}`];
  const own = receptacle.linkLocal;
  return receptacle.isMappedGidFirst ? [first, ...mapped, own] : [first, own, ...mapped];
}

/** Whether nothing comes through this receptacle though everything about it looks well. */
export const isPortDead = ({ ailments }: MacState, { number }: ReceptacleState): boolean =>
  ailments.isRdmaHung || ailments.deadReceptacles.includes(number);

/** How many queue pairs, completion queues and protection domains of each device this macOS says it has. */
export const rdmaLimit = ({ macos }: MacState): number => (Number(macos.version.split('.')[0]) >= 27 ? 3 : 11);

/**
 * Where a program that runs for real says what it has of each RDMA device, in a file named after its process: its name as
 * `ps` shows it, then lines `rdma_en3 1 2` with the device, its protection domains and its queue pairs.
 */
export const rdmaClientsPath = '/.sim/rdma-clients';

/** The registry below each device, with a line `@rdma_en3` where the clients of that device belong. */
export const rdmaRegistryPath = '/.sim/rdma-registry';

/** Protection domains and queue pairs that no real program holds: `10 0`. */
export const rdmaCountsPath = '/.sim/rdma-counts';

/** Whether objects of a program that KILL has ended stay. */
const rdmaKeptPath = '/.sim/rdma-kept';

/** There while verbs tools hang. */
export const verbsHungPath = '/.sim/verbs-hung';

/** Processes of the model, which no signal but KILL or TERM from here reaches: number, group, state and name of each. */
export const processesPath = '/.sim/processes';

/** A program of somebody else that holds every device. */
export const strangerPid = 98_711;

/** A program that hangs in the driver, and the verbs tool that hangs behind it. */
const hungPids = { owner: 98_027, tool: 98_143 } as const;

/** One process of the model. */
interface ModelProcess {
  readonly pid: number;
  readonly stat: 'S' | 'U';
  readonly program: string;
}

/** Every process that exists in the model alone. */
export const modelProcesses = ({ ailments }: MacState): readonly ModelProcess[] => [
  ...(ailments.isRdmaHeld ? [{ pid: strangerPid, stat: 'S', program: 'python3.12' } as const] : []),
  ...(ailments.isVerbsHung
    ? ([
        { pid: hungPids.owner, stat: 'U', program: 'mesh-allreduce' },
        { pid: hungPids.tool, stat: 'U', program: 'ibv_devinfo' },
      ] as const)
    : []),
];

interface Kept {
  readonly className: 'ProtectionDomain' | 'QueuePair';
  readonly isActive: boolean;
}

const pair = (isActive: boolean): readonly Kept[] => [
  { className: 'ProtectionDomain', isActive },
  { className: 'QueuePair', isActive },
];

/** What the kernel has of a device for no real program. */
function keptOf(mac: MacState, receptacle: ReceptacleState): readonly Kept[] {
  const { lacksDomains, isRdmaHeld, isVerbsHung } = mac.ailments;
  const isFirst = receptacle === mac.receptacles[0];
  const leaked: Kept = { className: 'ProtectionDomain', isActive: false };
  return [
    ...Array.from({ length: lacksDomains ? rdmaLimit(mac) - 1 : 0 }, () => leaked),
    ...(isRdmaHeld ? pair(true) : []),
    ...(isVerbsHung && isFirst ? pair(false) : []),
  ];
}

function clientsOf({ ailments }: MacState, isFirst: boolean): readonly string[] {
  const creators = [
    ...(ailments.isRdmaHeld ? [`pid ${strangerPid}, python3.12`] : []),
    ...(ailments.isVerbsHung && isFirst ? [`pid ${hungPids.owner}, mesh-allreduce`] : []),
  ];
  return creators.flatMap((creator) => [
    '  +-o IORDMAFamilyUC  <class IORDMAFamilyUC, id 0x100000907, !registered, !matched, active, busy 0, retain 5>',
    '  | {',
    `  |   "IOUserClientCreator" = "${creator}"`,
    '  | }',
  ]);
}

function deviceLines(mac: MacState, receptacle: ReceptacleState): readonly string[] {
  const kept = keptOf(mac, receptacle);
  const busy = kept.filter(({ isActive }) => !isActive).length;
  return [
    `+-o ${rdmaDevice(receptacle)}  <class AppleThunderboltRDMAInterface, id 0x10000080${receptacle.number}, registered, matched, active, busy ${busy} (1 ms), retain 12>`,
    '  | {',
    '  |   "IOUserClientClass" = "IORDMAFamilyUC"',
    `  |   "node_guid" = "${(nodeGuid(receptacle).match(/..../g) ?? []).join(':')}"`,
    '  |   "node_type" = 100',
    '  |   "IOPowerManagement" = {"DevicePowerState"=2,"CurrentPowerState"=2,"MaxPowerState"=2}',
    '  | }',
    ...kept.map(({ className, isActive }) => objectLine(className, isActive)),
    ...clientsOf(mac, receptacle === mac.receptacles[0]),
    `@${rdmaDevice(receptacle)}`,
    '',
  ];
}

/** A child of a device, as the two published texts have it. */
const objectLine = (className: string, isActive: boolean): string =>
  `  +-o AppleThunderboltRDMA${className}  <class AppleThunderboltRDMA${className}, id 0x100000905, ${
    isActive
      ? 'registered, matched, active, busy 0 (0 ms), retain 6'
      : '!registered, !matched, inactive, busy 1 (1 ms), retain 8'
  }>`;

/** Whether the driver has registered its classes; that it does so only where devices exist is an assumption. */
const hasDriver = (mac: MacState): boolean => hasRdmaTools(mac.macos.version) && isRdmaLive(mac);

/** The files from which the simulated tools read what the kernel has, and which processes there are besides the real ones. */
export function rdmaKernelFiles(mac: MacState): readonly NodeFile[] {
  const processes = modelProcesses(mac);
  const shown = processes.map(({ pid, stat, program }) => `${pid} ${pid} ${stat} ${program}\n`).join('');
  const list = processes.length === 0 ? [] : [dataFile(processesPath, shown)];
  const kept = mac.ailments.leakedWiredBytes === undefined ? [] : [dataFile(rdmaKeptPath, '')];
  const hung = mac.ailments.isVerbsHung ? [dataFile(verbsHungPath, '')] : [];
  if (!hasDriver(mac)) return [...list, ...hung];
  const all = rdmaReceptacles(mac).flatMap((receptacle) => keptOf(mac, receptacle));
  const domains = all.filter(({ className }) => className === 'ProtectionDomain').length;
  const lines = rdmaReceptacles(mac).flatMap((receptacle) => deviceLines(mac, receptacle));
  return [
    ...list,
    ...hung,
    ...kept,
    dataFile(rdmaCountsPath, `${domains} ${all.length - domains}\n`),
    dataFile(rdmaRegistryPath, `${lines.join('\n')}\n`),
  ];
}

/** The Mac after a signal that ends processes was sent to these; one in uninterruptible wait stays. */
export function withoutProcesses(mac: MacState, pids: readonly number[]): MacState {
  if (!mac.ailments.isRdmaHeld || !pids.includes(strangerPid)) return mac;
  const { isRdmaHeld: _, ...ailments } = mac.ailments;
  return { ...mac, ailments };
}

/**
 * Functions of sh for the tools. `clients` calls `client PID NAME DEVICE DOMAINS PAIRS GONE` for each device that a real
 * program has open; GONE is 1 for one that was killed, where its objects stay.
 */
export const clientsFunction = `clients() {
  for f in "$r"${rdmaClientsPath}/*; do
    [ -r "$f" ] || continue
    p=\${f##*/} g=0
    [ -d "/proc/$p" ] || kill -s 0 "$p" 2>/dev/null || g=1
    [ "$g" = 0 ] || [ -e "$r${rdmaKeptPath}" ] || continue
    { IFS= read -r n; while read -r d o q; do client "$p" "$n" "$d" "$o" "$q" "$g"; done; } <"$f"
  done
}`;

/** The text of one object, for {@link clientsFunction}. */
export const objectText = {
  active: (name: string) => objectLine(name, true),
  left: (name: string) => objectLine(name, false),
};
