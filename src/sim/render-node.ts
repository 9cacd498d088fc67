import type { Word } from '../model/probe.ts';
import { accountsPath, accountsText } from './model/directory.ts';
import { type MacState, macBehind, type Panic, type SimulatedFleet } from './model/fleet.ts';
import { isBridged, liveAddress, preferencesPath } from './model/network.ts';
import { dataFile, type NodeFile, shellQuote as quote, toolFile } from './model/node-files.ts';
import { type PlistDict, plistText } from './model/plist.ts';
import { isPortActive, mappedGidIndex, rdmaDevice, rdmaPeer, rdmaReceptacles } from './model/rdma.ts';
import { seededUuid } from './model/seed.ts';
import { formPattern } from './tools/forms.ts';
import { routesPath, routesText } from './tools/ifconfig.ts';
import { rdmaKernelFiles } from './tools/io-registry.ts';
import { verbsFiles } from './tools/rdma-tools.ts';
import { tools } from './tools/registry.ts';
import type { NamedValue, Row, Tool, ToolView } from './tools/tool.ts';

/** Failing calls of the verbs library: ENOMEM if no protection domain is left, EBUSY if no queue pair connects. */
const failingCalls = ({ ailments }: MacState): readonly string[] => [
  ...(ailments.lacksDomains ? ['alloc_pd 12\n'] : []),
  ...(ailments.refusesQueuePairs ? ['rtr 16\n'] : []),
];

/** All files of this node that depend on the fleet, sorted by path; the host removes those not listed anymore. */
export function nodeFiles(fleet: SimulatedFleet, node: string): readonly NodeFile[] {
  const mac = macBehind(fleet, node);
  if (mac === undefined) return [];
  const room = mac.ailments.diskRoomBytes;
  const failing = failingCalls(mac);
  const files = [
    dataFile(accountsPath, accountsText(mac.directory)),
    dataFile('/.sim/sudo', `${mac.sudo}\n`),
    dataFile('/.sim/password', `${mac.password}\n`),
    dataFile('/.sim/clock-offset', `${mac.clockOffsetSeconds}\n`),
    ...[preferencesPath, seenCopy(preferencesPath)].map((path) => dataFile(path, plistText(mac.preferences))),
    ...Object.entries(mac.domains).map(([path, dict]) => dataFile(`${path}.plist`, plistText(dict))),
    dataFile(screenSharingPath, plistText(screenSharingJob)),
    ...(room === undefined ? [] : [dataFile('/.sim/room', `${room}\n`)]),
    ...(failing.length > 0 ? [dataFile('/.sim/verbs', failing.join(''))] : []),
    ...(mac.ailments.isLanDenied ? [dataFile('/.sim/lan-denied', '')] : []),
    ...(mac.ailments.panicsUnderTcp ? [dataFile('/.sim/tcp-panics', '')] : []),
    ...rdmaKernelFiles(mac),
    dataFile(rdmaCablesPath, rdmaCablesText({ fleet, mac })),
    ...verbsFiles({ fleet, mac }),
    ...(mac.panics ?? []).map((panic, at) => reportOf(mac, panic, at)),
    dataFile(routesPath, routesText({ fleet, mac })),
    ...tools.flatMap((tool) => toolFiles(tool, { fleet, mac })),
  ];
  return files.sort((one, other) => (one.path < other.path ? -1 : one.path > other.path ? 1 : 0));
}

const screenSharingPath = '/System/Library/LaunchDaemons/com.apple.screensharing.plist';

/** The job is disabled, as in macOS, but has no sockets, because nothing connects to it here. */
const screenSharingJob: PlistDict = {
  Disabled: true,
  Label: 'com.apple.screensharing',
  ProgramArguments: [
    '/System/Library/CoreServices/RemoteManagement/screensharingd.bundle/Contents/MacOS/screensharingd',
  ],
};

const folder = '/Library/Logs/DiagnosticReports';

/** The kernel's panic text, and the report's name and folder, all seen on real Macs. */
const texts = {
  crash: {
    reason: 'Kernel data abort. at pc 0xfffffe0029f1a4c8, lr 0xfffffe0029f1a3a0',
    extension: 'com.apple.iokit.IOThunderboltFamily(9.3.3)',
    file: (time: string) => `Retired/panic-full-${time}.0002.panic`,
  },
  'tcp-load': {
    reason: 'Kernel data abort. at pc 0xfffffe002b6c1d04, lr 0xfffffe002b6c1b58',
    extension: 'com.apple.driver.AppleThunderboltIP(4.0.3)',
    file: (time: string) => `panic-base+socd-${time}.000.panic`,
  },
};

function reportOf(mac: MacState, { cause, atEpochSeconds }: Panic, at: number): NodeFile {
  // `2026-11-20 21:26:29`, in UTC.
  const time = new Date(atEpochSeconds * 1000).toISOString().slice(0, 19).replace('T', ' ');
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

/** File with the connections of a Mac's RDMA devices. Simulated runtimes find this file next to the link table. */
export const rdmaCablesPath = '/.sim/rdma-cables';

const none = '-';

/**
 * One line per device: its name, its GID's IPv4 address, its port's state, this Mac, the Mac and device at the far end,
 * and the GID's index; `-` for missing values.
 */
const rdmaCablesText = ({ fleet, mac }: ToolView): string =>
  rdmaReceptacles(mac)
    .map((receptacle) => {
      const address = isBridged(mac, receptacle.device) ? undefined : liveAddress(fleet, mac, receptacle)?.address;
      const isActive = isPortActive(fleet, mac, receptacle);
      const far = rdmaPeer(fleet, mac, receptacle);
      const end = far === undefined ? `${none} ${none}` : `${far.mac.name} ${rdmaDevice(far.receptacle)}`;
      return `${rdmaDevice(receptacle)} ${address ?? none} ${isActive ? 'active' : 'down'} ${mac.name} ${end} ${mappedGidIndex(receptacle)}\n`;
    })
    .join('');

/** The sh line that sends a tool's arguments to the simulator, and prints its answer. `$r` is the node's root. */
const askSimulator = 'exec "$r/.sim/ask" "$PWD" "${0#"$r"}" "$@"';

/**
 * An sh function at the beginning of every simulated tool, also for the bodies of patterns. It prints a file line by
 * line without starting a program. If the file is missing, it exits with 1.
 */
const sayFunction = `say() {
  t= n='
'
  while IFS= read -r v; do t=$t$v$n; done <"$1" || exit 1
  printf '%s' "$t"
}
`;

const toolName = ({ path }: Tool): string => path.slice(path.lastIndexOf('/') + 1);

/** A word in a case pattern: literal, or a path below the root that the tool itself derived. */
const patternWord = (word: Word): string => (typeof word === 'string' ? quote(word) : `"$r"${quote(word.path)}`);

/** The sh pattern for a row, such as `2:-getinfo Ethernet`: the number of arguments, then all of them. */
const rowPattern = (row: Row): string =>
  row.args.length === 0 ? quote('0:') : `${row.args.length}:${row.args.map(patternWord).join("' '")}`;

/** The simulator's copy of a node's file, as last written. */
const seenCopy = (path: string): string => `/.sim/seen${path}`;

/** A unique file name for a command line's answer. */
function slug(row: Row): string {
  const words = row.args.map((word) => (typeof word === 'string' ? word : word.path));
  return words.length === 0 ? 'no-arguments' : words.join('_').replaceAll(/[^A-Za-z0-9._-]/g, '+');
}

/**
 * The beginning of a tool's script. It derives the root from the script's own path without a fork; on a node without a
 * prefix, the same expression gives an empty string. For unknown arguments, the tool adds one line to `/.sim/unknown`
 * and prints its usage text.
 */
const head = (tool: Tool): string =>
  `#!/bin/sh\nr=\${0%${quote(tool.path)}}\na=$r/.sim/answers/${toolName(tool)}\n${sayFunction}`;

/** A shell reads files byte by byte. Up to this size, that is faster than starting a program. */
const saidCharacters = 1_500;

/** sh commands that print a stored answer; `what` is the text in the file. */
function printed(file: string, what: string): string {
  const path = `"$a"/${quote(file)}`;
  const isSaid = what.length <= saidCharacters && what.endsWith('\n') && !what.includes('\0');
  return isSaid ? `say ${path}` : `/bin/cat ${path}`;
}

const tail = ({ path, usage }: Tool): string =>
  [
    'l=$*',
    "case $l in (*'\n'*) l='(arguments with a line break)' ;; esac",
    `printf '%s\\n' ${quote(path)}" $#:$l" >>"$r/.sim/unknown"`,
    '/bin/cat "$a/usage.err" >&2',
    `exit ${usage.exitCode}\n`,
  ].join('\n');

function rowBody(row: Row): string {
  const { ifUnchanged } = row;
  if (ifUnchanged === undefined) return storedAnswer(row);
  const [copy, file] = [seenCopy(ifUnchanged.path), patternWord(ifUnchanged)];
  return `/usr/bin/cmp -s "$r"${quote(copy)} ${file} || ${askSimulator}; ${storedAnswer(row)}`;
}

function storedAnswer(row: Row): string {
  const out = row.stdout === undefined ? '' : printed(`${slug(row)}.out`, row.stdout);
  const isCopied = out.startsWith('/bin/cat ') && row.stderr === undefined && (row.exitCode ?? 0) === 0;
  if (isCopied) return `exec ${out}`;
  const err = row.stderr === undefined ? '' : `${printed(`${slug(row)}.err`, row.stderr)} >&2`;
  return [out, err, `exit ${row.exitCode ?? 0}`].filter((part) => part !== '').join('; ');
}

/** First rows, then changes, which the simulator itself checks, then families of command lines. */
function arms({ writes = [], patterns = [] }: Tool, rows: readonly Row[]): string {
  const known = [
    ...rows.map((row) => [rowPattern(row), rowBody(row)] as const),
    ...writes.map(({ form, match, input = '' }) => [match ?? formPattern(form), `${input}${askSimulator}`] as const),
    ...patterns.map(({ match, body }) => [match, body] as const),
  ];
  return `case "$#:$*" in\n${known.map(([match, body]) => `(${match}) ${body} ;;\n`).join('')}esac\n`;
}

/** Prints named values like sysctl, which reports unknown names and prints the others. */
function namesAnswer(tool: Tool, values: readonly NamedValue[]): string {
  return [
    "n=0 s=0\ncase ${1-} in ('-n') n=1; shift ;; esac\n",
    "case ${1-} in ('' | -*) ;; (*)\nfor o do\n  case $o in\n",
    ...values.map(({ name, value }) => `  (${quote(name)}) v=${quote(value)} ;;\n`),
    `  (*) case $o in (*[!A-Za-z0-9._=-]*) l='(an invalid name)' ;; (*) l=$o ;; esac\n`,
    `    printf '%s\\n' ${quote(tool.path)}" 1:$l" >>"$r/.sim/unknown"; s=1\n`,
    `    printf "${toolName(tool)}: unknown oid '%s'\\n" "$o" >&2; continue ;;\n  esac\n`,
    '  case $n in (1) printf \'%s\\n\' "$v" ;; (*) printf \'%s: %s\\n\' "$o" "$v" ;; esac\ndone\nexit $s ;;\nesac\n',
  ].join('');
}

function rowFiles(tool: Tool, row: Row): readonly NodeFile[] {
  const path = `/.sim/answers/${toolName(tool)}/${slug(row)}`;
  const out = row.stdout === undefined ? [] : [dataFile(`${path}.out`, row.stdout)];
  return row.stderr === undefined ? out : [...out, dataFile(`${path}.err`, row.stderr)];
}

/** One tool's files on one Mac: the script and its answers; empty if this Mac does not have the tool. */
function toolFiles(tool: Tool, view: ToolView): readonly NodeFile[] {
  if (tool.isPresent?.(view.mac) === false) return [];
  const rows = tool.rows?.(view) ?? [];
  const names = tool.values === undefined ? '' : namesAnswer(tool, tool.values(view));
  return [
    toolFile(tool.path, head(tool) + arms(tool, rows) + names + tail(tool)),
    ...rows.flatMap((row) => rowFiles(tool, row)),
    dataFile(`/.sim/answers/${toolName(tool)}/usage.err`, tool.usage.text),
  ];
}
