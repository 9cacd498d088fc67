import type { FactsRdmaObjects } from '../../model/documents.generated.ts';
import { mayRun, rankPlacement } from '../../model/facts/daemons.ts';
import type { Facts } from '../../model/facts/fact-values.ts';
import type { RdmaHolders, RdmaObject, RdmaProcess } from '../../model/facts/rdma.ts';
import { andThen, type Known, known, unknown } from '../../model/known.ts';
import type { Answer } from '../../model/probe.ts';
import { wholeNumber } from '../../node/answers/grammar.ts';
import { garbled, readLines } from '../../node/answers/read-answer.ts';
import { tool } from '../../node/paths/node-paths.ts';
import { probe } from '../../node/probes/probe.ts';
import { rdmaKernelScript } from '../../node/probes/rdma-scripts.ts';
import { defineFact, read, readValue } from '../fact.ts';
import { servicesFact } from '../records/services-fact.ts';

/** The RDMA driver's objects in the kernel, and their processes. Every observation reads both before a verbs tool runs. */
export const rdmaKernel = probe('rdma-kernel', [tool.sh, '-c', rdmaKernelScript], 5_000, 131_072);

const none: FactsRdmaObjects = { domains: 0, queuePairs: 0 };

/**
 * A node's objects in the kernel: those held by living processes, which are freed when the processes exit, and those
 * without a process, which only a restart frees. Unknown if the driver is not loaded, if count and list differ, or if a
 * rank runs but no process is listed.
 *
 * @see dryvist/nix-ai, docs/runbooks/rdma-protection-domains.md: domains return when their process exits, not its
 * launcher
 */
export function kernelObjects(
  facts: Facts,
): Known<FactsRdmaObjects & Readonly<Record<'held' | 'withoutProcess', FactsRdmaObjects>>> {
  const counted = read(facts, rdmaObjectsFact);
  const holders = read(facts, rdmaHoldersFact);
  if (counted.kind === 'unknown') return counted;
  const all = counted.value;
  if (all.domains + all.queuePairs === 0) return known({ ...all, held: none, withoutProcess: none });
  if (holders.kind === 'unknown') return holders;
  const isHeld = holders.value.processes.some(isHolder);
  if (!isHeld && mayRankRun(facts)) {
    return unknown('garbled', 'A rank runs, but no process is listed for the RDMA objects in the kernel.');
  }
  const held = isHeld ? heldBy(holders.value) : none;
  const listed = countObjects(holders.value.devices.flatMap(({ objects }) => objects));
  if (isHeld && (listed.domains !== all.domains || listed.queuePairs !== all.queuePairs)) {
    return unknown('garbled', 'The count of RDMA objects in the kernel differs from the list.');
  }
  const withoutProcess = { domains: all.domains - held.domains, queuePairs: all.queuePairs - held.queuePairs };
  return known({ ...all, held, withoutProcess });
}

const isHolder = ({ state, devices }: RdmaProcess): boolean => state !== 'gone' && devices.length > 0;

/** Processes that no signal stops: each waits in the driver with an inactive object, or is a verbs tool. */
export const stuckProcesses = ({ devices, processes }: RdmaHolders): readonly RdmaProcess[] =>
  processes.filter((process) => {
    const own = devices.filter(({ device }) => process.devices.includes(device));
    const isWaiting = own.some(({ objects }) => objects.some(({ isActive }) => !isActive));
    return process.state === 'uninterruptible' && (process.isVerbsTool || isWaiting);
  });

/** Inactive objects do not count: they outlived their owner, or their owner hangs in them and never frees them. */
function heldBy({ devices, processes }: RdmaHolders): FactsRdmaObjects {
  const open = new Set(processes.filter(isHolder).flatMap((process) => process.devices));
  return countObjects(
    devices.flatMap(({ device, objects }) => (open.has(device) ? objects.filter(({ isActive }) => isActive) : [])),
  );
}

export const countObjects = (objects: readonly RdmaObject[]): FactsRdmaObjects => ({
  domains: objects.filter(({ kind }) => kind === 'domain').length,
  queuePairs: objects.filter(({ kind }) => kind === 'queue-pair').length,
});

function mayRankRun(facts: Facts): boolean {
  const services = readValue(facts, servicesFact);
  return services === undefined || services.some((one) => rankPlacement(one) !== undefined && mayRun(one));
}

/**
 * The number of RDMA driver objects in the kernel for all ports, including inactive objects:
 *
 *     AppleThunderboltRDMAProtectionDomain = 3, AppleThunderboltRDMAQueuePair = 2
 *
 * `<no such class>` means that the driver is not loaded, so nothing can be counted.
 *
 * @see ioclasscount.c in Apple's IOKitTools
 */
export const rdmaObjectsFact = defineFact({
  name: 'rdma-objects',
  from: [rdmaKernel],
  parse: ([answer]): Known<FactsRdmaObjects> => andThen(partsOf(answer), ({ count }) => countOf(answer, count)),
  source: 'ioclasscount AppleThunderboltRDMAProtectionDomain AppleThunderboltRDMAQueuePair',
  text: rdmaObjectWords,
});

const counted = (count: number, noun: string): readonly string[] =>
  count === 0 ? [] : [`${count} ${noun}${count === 1 ? '' : 's'}`];

/** `2 protection domains and 1 queue pair`; `none` if there are no objects. */
export function rdmaObjectWords({ domains, queuePairs }: FactsRdmaObjects): string {
  return [...counted(domains, 'protection domain'), ...counted(queuePairs, 'queue pair')].join(' and ') || 'none';
}

/**
 * The owners of these objects, by device and by process, from `ioreg` and `ps`; empty while the kernel has no objects.
 *
 *     +-o rdma_en3  <class AppleThunderboltRDMAInterface, id 0x100000004, registered, matched, active, busy 2 (1 ms), retain 20>
 *       +-o IORDMAFamilyUC  <class IORDMAFamilyUC, id 0x100000009, !registered, !matched, active, busy 0, retain 5>
 *         |   "IOUserClientCreator" = "pid 4711, python3.12"
 *
 * @see tmc/go-iroh: its parser of this text, and captures of macOS 26
 */
export const rdmaHoldersFact = defineFact({
  name: 'rdma-holders',
  from: [rdmaKernel],
  parse: ([answer]): Known<RdmaHolders> =>
    andThen(partsOf(answer), ({ count, registry, tools, processes }) =>
      andThen(countOf(answer, count), ({ domains, queuePairs }) => {
        const devices = devicesOf(registry);
        const table = tableOf(processes);
        if (devices === undefined || table === undefined) return garbled(answer, 'printed an unreadable line');
        const hasObjects = domains + queuePairs > 0;
        if (hasObjects !== devices.length > 0) return garbled(answer, 'counted different objects than it listed');
        return known({
          devices: devices.map(({ clients: _, ...device }) => device),
          processes: processesOf(devices, table, tools),
        });
      }),
    ),
  source: 'ioreg -r -c AppleThunderboltRDMAInterface -l',
  /** One line for each device with objects, then one line for each process. */
  text: ({ devices, processes }) => [
    ...devices.filter(({ objects }) => objects.length > 0).map(deviceLine),
    ...processes.map(processLine),
  ],
});

const stateWords: Readonly<Record<RdmaProcess['state'], string>> = {
  runs: '',
  uninterruptible: ', in uninterruptible wait',
  gone: ', gone',
};

function deviceLine({ device, powerState, objects }: RdmaHolders['devices'][number]): string {
  const { domains, queuePairs } = countObjects(objects);
  const inactive = objects.filter(({ isActive }) => !isActive).length;
  const more = [
    ...(inactive === 0 ? [] : [`${inactive} inactive`]),
    ...(powerState === undefined ? [] : [`power state ${powerState}`]),
  ];
  return [`${device} PD ${domains}, QP ${queuePairs}`, ...more].join(', ');
}

function processLine({ pid, program, state, devices }: RdmaProcess): string {
  const what = devices.length === 0 ? 'runs' : `has ${devices.join(', ')} open`;
  return `${program} (pid ${pid}) ${what}${stateWords[state]}`;
}

function partsOf(answer: Answer | undefined) {
  const lines = readLines(answer);
  if (lines.kind === 'unknown') return lines;
  const [count = '', ...rest] = lines.value;
  if (rest.at(-1) !== 'end') return unknown('truncated', 'The list of RDMA objects is incomplete.');
  const ps = rest.findIndex((line) => /^ps(?:,\d{1,10})*$/.test(line));
  const body = ps < 0 ? rest.slice(0, -1) : rest.slice(0, ps);
  if (body.length > 0 && body[0] !== 'ioreg') return garbled(answer, 'printed an unreadable line');
  return known({
    count,
    registry: body.slice(1),
    tools: ps < 0 ? [] : (rest[ps] ?? '').split(',').slice(1).map(Number),
    processes: ps < 0 ? [] : rest.slice(ps + 1, -1),
  });
}

const countForm =
  /^AppleThunderboltRDMAProtectionDomain = (\d{1,9}|<no such class>), AppleThunderboltRDMAQueuePair = (\d{1,9}|<no such class>)$/;

function countOf(answer: Answer | undefined, line: string): Known<FactsRdmaObjects> {
  const [, domains = '', queuePairs = ''] = countForm.exec(line) ?? [];
  if (domains === '') return garbled(answer, 'printed an unreadable count');
  const count = { domains: wholeNumber(domains), queuePairs: wholeNumber(queuePairs) };
  return count.domains === undefined || count.queuePairs === undefined
    ? unknown('empty', "The driver for RDMA over Thunderbolt is not loaded: this Mac's kernel does not have its class.")
    : known({ domains: count.domains, queuePairs: count.queuePairs });
}

/** A device while it is being read, with the processes that have opened it. */
interface Device {
  readonly device: string;
  powerState?: number;
  readonly objects: RdmaObject[];
  readonly clients: Pick<RdmaProcess, 'pid' | 'program'>[];
}

const headForm = /^[ |]*\+-o (\S+) {2}<class (\w+), id 0x[0-9a-f]+, (.+)>$/;
const stateForm = /^!?registered, !?matched, (active|inactive), busy (\d{1,9})(?: \(\d+ ms\))?, retain \d+$/;
const powerForm = /^[ |]+"IOPowerManagement" = \{(?:.*,)?"CurrentPowerState"=(\d)(?:,.*)?\}$/;
const clientForm = /^[ |]+"IOUserClientCreator" = "pid ([1-9]\d{0,9}), ([^"]{1,100})"$/;

const kinds: Readonly<Record<string, RdmaObject['kind']>> = {
  AppleThunderboltRDMAProtectionDomain: 'domain',
  AppleThunderboltRDMAQueuePair: 'queue-pair',
};

function devicesOf(lines: readonly string[]): readonly Device[] | undefined {
  const devices: Device[] = [];
  for (const line of lines) {
    const [, name = '', className = '', state = ''] = headForm.exec(line) ?? [];
    const isRead = name === '' ? addProperty(devices.at(-1), line) : addNode(devices, name, className, state);
    if (name !== '' && (className === deviceClass) !== line.startsWith('+')) return undefined;
    if (!isRead) return undefined;
  }
  return new Set(devices.map(({ device }) => device)).size === devices.length ? devices : undefined;
}

/** Devices are at the left edge, everything else is below them. Only the objects of interest need a known state. */
const deviceClass = 'AppleThunderboltRDMAInterface';

function addNode(devices: Device[], name: string, className: string, state: string): boolean {
  const [, activity, busy = ''] = stateForm.exec(state) ?? [];
  const kind = kinds[className];
  if (className === deviceClass) {
    if (!/^rdma_en\d{1,3}$/.test(name)) return false;
    devices.push({ device: name, objects: [], clients: [] });
    return true;
  }
  if (kind === undefined) return devices.length > 0;
  if (activity === undefined) return false;
  return (devices.at(-1)?.objects.push({ kind, isActive: activity === 'active', busy: Number(busy) }) ?? 0) > 0;
}

function addProperty(device: Device | undefined, line: string): boolean {
  if (device === undefined) return false;
  const [, power] = powerForm.exec(line) ?? [];
  // Objects have separate power states; the first power state is the device's.
  if (power !== undefined) device.powerState ??= Number(power);
  if (line.includes('"IOPowerManagement" =')) return true;
  const [, pid, program] = clientForm.exec(line) ?? [];
  return pid !== undefined && program !== undefined && device.clients.push({ pid: Number(pid), program }) > 0;
}

interface Row {
  readonly group: number;
  readonly stat: string;
  readonly program: string;
}

function tableOf(lines: readonly string[]): ReadonlyMap<number, Row> | undefined {
  const table = new Map<number, Row>();
  for (const line of lines) {
    const [, pid = '', group = '', stat = '', program = ''] = /^(\d{1,10}) (\d{1,10}) (\S{1,8}) (.+)$/.exec(line) ?? [];
    if (pid === '' || table.has(Number(pid))) return undefined;
    table.set(Number(pid), { group: Number(group), stat, program });
  }
  return table;
}

/** IOKit and `ps` truncate names at the same length. For other classes, entries of exited processes were seen. */
function processesOf(
  devices: readonly Device[],
  table: ReadonlyMap<number, Row>,
  tools: readonly number[],
): RdmaHolders['processes'] {
  const named = new Map<string, Pick<RdmaProcess, 'pid' | 'program'>>();
  for (const one of devices.flatMap(({ clients }) => clients)) named.set(`${one.pid} ${one.program}`, one);
  for (const pid of tools) {
    const program = table.get(pid)?.program;
    if (program !== undefined) named.set(`${pid} ${program}`, { pid, program });
  }
  return [...named.values()]
    .toSorted((a, b) => a.pid - b.pid)
    .map(({ pid, program }) => {
      const row = table.get(pid);
      const isThere = row !== undefined && row.program === program && !row.stat.startsWith('Z');
      const isHolder = (one: Device): boolean =>
        one.clients.some((client) => client.pid === pid && client.program === program);
      return {
        pid,
        program,
        ...(isThere ? { group: row.group } : {}),
        ...(isThere && row.stat.startsWith('R') ? { isOnCpu: true as const } : {}),
        state: !isThere ? 'gone' : row.stat.startsWith('U') ? 'uninterruptible' : 'runs',
        isVerbsTool: tools.includes(pid),
        devices: devices.filter(isHolder).map(({ device }) => device),
      };
    });
}
