import type { MacState, ReceptacleState } from '../model/fleet.ts';
import { dataFile, type NodeFile } from '../model/node-files.ts';
import {
  isRdmaLive,
  modelProcesses,
  nodeGuid,
  processesPath,
  rdmaClientsPath,
  rdmaDevice,
  rdmaLimit,
  rdmaReceptacles,
  strangerPid,
  verbsHungPath,
} from '../model/rdma.ts';
import { from, lines, row, type Source, type Tool, usage } from './tool.ts';

/** File with the registry below each device. A line such as `@rdma_en3` marks the place of that device's clients. */
const rdmaRegistryPath = '/.sim/rdma-registry';

/** File with the numbers of protection domains and queue pairs that belong to no real program, such as `10 0`. */
const rdmaCountsPath = '/.sim/rdma-counts';

/** This file exists while objects of killed programs remain. */
const rdmaLeakedPath = '/.sim/rdma-kept';

const pair = (isActive: boolean) => ['ProtectionDomain', 'QueuePair'].map((className) => ({ className, isActive }));

/** A device's kernel objects that belong to no real program. */
function objectsOf(mac: MacState, receptacle: ReceptacleState) {
  const { lacksDomains, isRdmaHeld, isVerbsHung } = mac.ailments;
  const isFirst = receptacle === mac.receptacles[0];
  const leaked = { className: 'ProtectionDomain', isActive: false };
  return [
    ...Array.from({ length: lacksDomains ? rdmaLimit(mac) - 1 : 0 }, () => leaked),
    ...(isRdmaHeld ? pair(true) : []),
    ...(isVerbsHung && isFirst ? pair(false) : []),
  ];
}

/** The model's processes that have opened a device. The hanging process has opened the first device. */
const clientsOf = (mac: MacState, isFirst: boolean): readonly string[] =>
  modelProcesses(mac)
    .filter(({ pid, program }) => pid === strangerPid || (isFirst && program !== 'ibv_devinfo'))
    .flatMap(({ pid, program }) => [
      '  +-o IORDMAFamilyUC  <class IORDMAFamilyUC, id 0x100000907, !registered, !matched, active, busy 0, retain 5>',
      '  | {',
      `  |   "IOUserClientCreator" = "pid ${pid}, ${program}"`,
      '  | }',
    ]);

function deviceLines(mac: MacState, receptacle: ReceptacleState): readonly string[] {
  const objects = objectsOf(mac, receptacle);
  const busy = objects.filter(({ isActive }) => !isActive).length;
  return [
    `+-o ${rdmaDevice(receptacle)}  <class AppleThunderboltRDMAInterface, id 0x10000080${receptacle.number}, registered, matched, active, busy ${busy} (1 ms), retain 12>`,
    '  | {',
    '  |   "IOUserClientClass" = "IORDMAFamilyUC"',
    `  |   "node_guid" = "${(nodeGuid(receptacle).match(/..../g) ?? []).join(':')}"`,
    '  |   "node_type" = 100',
    '  |   "IOPowerManagement" = {"DevicePowerState"=2,"CurrentPowerState"=2,"MaxPowerState"=2}',
    '  | }',
    ...objects.map(({ className, isActive }) => objectLine(className, isActive)),
    ...clientsOf(mac, receptacle === mac.receptacles[0]),
    `@${rdmaDevice(receptacle)}`,
    '',
  ];
}

/** A device's child in the registry, as in the two published texts. */
const objectLine = (className: string, isActive: boolean): string =>
  `  +-o AppleThunderboltRDMA${className}  <class AppleThunderboltRDMA${className}, id 0x100000905, ${
    isActive
      ? 'registered, matched, active, busy 0 (0 ms), retain 6'
      : '!registered, !matched, inactive, busy 1 (1 ms), retain 8'
  }>`;

/** Files with the kernel's state and the model's processes, for the simulated tools. */
export function rdmaKernelFiles(mac: MacState): readonly NodeFile[] {
  const processes = modelProcesses(mac);
  const shown = processes.map(({ pid, stat, program }) => `${pid} ${pid} ${stat} ${program}\n`).join('');
  const list = processes.length === 0 ? [] : [dataFile(processesPath, shown)];
  const leaked = mac.ailments.leakedWiredBytes === undefined ? [] : [dataFile(rdmaLeakedPath, '')];
  const hung = mac.ailments.isVerbsHung ? [dataFile(verbsHungPath, '')] : [];
  // Assumption: the driver registers its classes only if there are devices.
  if (!isRdmaLive(mac)) return [...list, ...hung];
  const all = rdmaReceptacles(mac).flatMap((receptacle) => objectsOf(mac, receptacle));
  const domains = all.filter(({ className }) => className === 'ProtectionDomain').length;
  const lines = rdmaReceptacles(mac).flatMap((receptacle) => deviceLines(mac, receptacle));
  return [
    ...list,
    ...hung,
    ...leaked,
    dataFile(rdmaCountsPath, `${domains} ${all.length - domains}\n`),
    dataFile(rdmaRegistryPath, `${lines.join('\n')}\n`),
  ];
}

/**
 * sh functions for the tools. `clients` calls `client PID NAME DEVICE DOMAINS PAIRS GONE` for each device that a real
 * program has opened. GONE is 1 for a killed program whose objects remain.
 */
const clientsFunction = `clients() {
  for f in "$r"${rdmaClientsPath}/*; do
    [ -r "$f" ] || continue
    p=\${f##*/} g=0
    [ -d "/proc/$p" ] || kill -s 0 "$p" 2>/dev/null || g=1
    [ "$g" = 0 ] || [ -e "$r${rdmaLeakedPath}" ] || continue
    { IFS= read -r n; while read -r d o q; do client "$p" "$n" "$d" "$o" "$q" "$g"; done; } <"$f"
  done
}`;

const names = ['AppleThunderboltRDMAProtectionDomain', 'AppleThunderboltRDMAQueuePair'] as const;

const body = `if { read -r a b <"$r${rdmaCountsPath}"; } 2>/dev/null; then
    ${clientsFunction}
    client() { a=$((a + $4)) b=$((b + $5)); }
    clients
  else a='<no such class>' b='<no such class>'; fi
  printf '${names[0]} = %s, ${names[1]} = %s\\n' "$a" "$b"
  exit 0`;

/** `ioclasscount CLASS CLASS`: counts the RDMA driver's objects, including inactive ones. */
export const ioclasscount: Tool = {
  path: '/usr/sbin/ioclasscount',
  patterns: [
    {
      match: `'2:${names.join(' ')}'`,
      body,
      source: from.modelled('ioclasscount.two-classes-zero.modelled.txt', "ioclasscount.c in Apple's IOKitTools"),
    },
  ],
  usage: usage(64, from.apple('IOKitTools, ioclasscount.c: usage'), 'usage: ioclasscount [<classname> ...]'),
};

/** A node of the simulated I/O registry. Its property values are in ioreg's form. */
function entry(name: string, className = name, properties: Readonly<Record<string, string>> = {}) {
  return { name, className, properties };
}

type Entry = ReturnType<typeof entry>;

const bytes = (text: string): string => `<${Buffer.from(`${text}\0`, 'latin1').toString('hex')}>`;

/** Four bytes, lowest first. The numbers are those of acio0, acio4 and acio5 on a Mac15,14. */
function handle(index: number): string {
  const four = Buffer.alloc(4);
  four.writeUInt32LE(147 + 33 * index);
  return `<${four.toString('hex')}>`;
}

/** Prints one node at its depth, with its properties indented by two more levels, and an empty line at the end. */
function shown({ name, className, properties }: Entry, depth: number, isLast: boolean): string {
  const indent = '  '.repeat(depth + 1) + (isLast ? '  ' : '| ');
  const values = Object.entries(properties).map(([key, value]) => `${indent}  "${key}" = ${value}`);
  const head = `${'  '.repeat(depth)}+-o ${name}  <class ${className}, id 0x1000001${depth}f, registered, matched, active, busy 0 (3 ms), retain 9>`;
  return lines(head, `${indent}{`, ...values, `${indent}}`, indent);
}

const alone = (one: Entry): string => `${shown(one, 0, true)}\n`;

/** Port controllers with a known location. */
const connectors = (mac: MacState): readonly Entry[] =>
  (mac.model.portLocations ?? []).map((location, index) =>
    entry(`hpm${index}@${(12 - index).toString(16).toUpperCase()}`, 'AppleARMSPMIDevice', {
      'acio-parent': handle(index),
      compatible: bytes('usbc,sn201202x,spmi'),
      'port-location': bytes(location),
      'port-number': `<0${index + 1}000000>`,
    }),
  );

/** The path from the registry's root to the IP port of one receptacle. */
const pathTo = (receptacle: number): readonly Entry[] => [
  entry('Root', 'IORegistryEntry', { IOKitDiagnostics: '{"Classes"={"IOService"=0x2a}}' }),
  entry('Mac', 'IOPlatformExpertDevice', { manufacturer: bytes('Apple Inc.') }),
  entry('arm-io@10F00000', 'AppleARMIODevice', { 'AAPL,phandle': '<1d000000>' }),
  entry(`acio${receptacle - 1}@${(0x1f0_0000 + receptacle).toString(16).toUpperCase()}`, 'AppleARMIODevice', {
    'AAPL,phandle': handle(receptacle - 1),
    compatible: bytes('acio'),
  }),
  entry('IOThunderboltControllerType7', 'IOThunderboltControllerType7', { Generation: '0x4' }),
  entry('IOThunderboltLocalNode'),
  entry('AppleThunderboltIPService'),
  entry('AppleThunderboltIPPort', 'AppleThunderboltIPPort', { IOLinkStatus: '0x1', IOLocation: `"${receptacle}"` }),
];

const pathText = (receptacle: number): string => {
  const path = pathTo(receptacle);
  return `${path.map((entry, depth) => shown(entry, depth, depth === path.length - 1)).join('')}\n`;
};

const platformSource = from.published(
  'GuillaumeGomez/sysinfo, pull request 1545: the keys; the form is that of ioreg.c',
);
const sourceFor = ({ model }: MacState): Source =>
  model.id === 'Mac15,14'
    ? from.published('dev7a/rdmalink, docs/ARCHITECTURE.md and InventoryPortTests.swift; the form is that of ioreg.c')
    : from.unconfirmed("ioreg on models other than Mac15,14: each receptacle's location in the device tree");

/** The Mac itself: constant properties, except for serial number and UUID. */
const platform = ({ model, serial, hardwareUuid }: MacState): Entry =>
  entry('Mac', 'IOPlatformExpertDevice', {
    'target-type': bytes('Mac'),
    IOPlatformUUID: `"${hardwareUuid}"`,
    model: bytes(model.id),
    IOPlatformSerialNumber: `"${serial}"`,
    IOBusyInterest: '"IOCommand is not serializable"',
  });
const quoted = (text: string): string => `'${text}'`;

const rdmaBody = `[ -r "$r${rdmaRegistryPath}" ] || exit 0
  ${clientsFunction}
  client() {
    [ "$3" = "\${v#@}" ] || return 0
    case $6 in
      (1) x=${quoted(objectLine('ProtectionDomain', false))} y=${quoted(objectLine('QueuePair', false))} ;;
      (*) x=${quoted(objectLine('ProtectionDomain', true))} y=${quoted(objectLine('QueuePair', true))} ;;
    esac
    i=0; while [ "$i" -lt "$4" ]; do printf '%s\\n' "$x"; i=$((i + 1)); done
    i=0; while [ "$i" -lt "$5" ]; do printf '%s\\n' "$y"; i=$((i + 1)); done
    [ "$6" = 1 ] || printf '  +-o IORDMAFamilyUC  <class IORDMAFamilyUC, id 0x100000909, !registered, !matched, active, busy 0, retain 5>\\n    {\\n      "IOUserClientCreator" = "pid %s, %s"\\n    }\\n' "$1" "$2"
  }
  while IFS= read -r v; do
    case $v in (@*) clients ;; (*) printf '%s\\n' "$v" ;; esac
  done <"$r${rdmaRegistryPath}"
  exit 0`;

/** `ioreg` in text form, for specific queries; it prints nothing and exits 0 if nothing matches. */
export const ioreg: Tool = {
  path: '/usr/sbin/ioreg',
  rows: ({ mac }) => [
    row(['-rd1', '-c', 'IOPlatformExpertDevice'], platformSource, alone(platform(mac))),
    row(['-x', '-r', '-d1', '-k', 'port-location'], sourceFor(mac), connectors(mac).map(alone).join('')),
    row(
      ['-x', '-r', '-d1', '-t', '-l', '-c', 'AppleThunderboltIPPort'],
      sourceFor(mac),
      mac.receptacles.map(({ number }) => pathText(number)).join(''),
    ),
  ],
  patterns: [
    {
      match: "'4:-r -c AppleThunderboltRDMAInterface -l'",
      body: rdmaBody,
      source: from.published(
        'tmc/go-iroh: two reduced texts of such devices; user clients and properties after SQCU/mesh',
      ),
    },
  ],
  usage: usage(
    1,
    from.apple('IOKitTools, ioreg.c: usage'),
    'usage: ioreg [-abfilrtx] [-c class] [-d depth] [-k key] [-n name] [-p plane] [-w width]',
    'where options are:',
  ),
};
