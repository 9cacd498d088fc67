import type { NodePath } from '../../model/probe.ts';
import type { MacState } from '../model/fleet.ts';
import { modelProcesses } from '../model/rdma.ts';
import { from, lines, row, type Tool, type ToolChange, type ToolView, unconfirmedUsage, usage } from './tool.ts';

const source = from.modelled('df-k.m3ultra-8tb.modelled.txt', 'public Zig test, Mac Studio M3 Ultra 8 TB');
const dataVolume: NodePath = { kind: 'node-path', path: '/System/Volumes/Data' };

function diskOf({ disk, ailments: { diskRoomBytes } }: MacState): MacState['disk'] {
  if (diskRoomBytes === undefined) return disk;
  const availableKib = Math.floor(diskRoomBytes / 1024);
  return { ...disk, usedKib: disk.usedKib + disk.availableKib - availableKib, availableKib };
}

function dataVolumeTable(mac: MacState): string {
  const { totalKib, usedKib, availableKib } = diskOf(mac);
  const device = '/dev/disk3s5';
  const inodesUsed = Math.floor(usedKib / 2900);
  const inodesFree = availableKib * 10;
  const share = (used: number, free: number): string => String(Math.ceil((used * 100) / (used + free)));
  const column = (head: string, number: number, least: number): readonly [head: string, cell: string] => {
    const width = Math.max(least, String(number).length);
    return [head.padStart(width), String(number).padStart(width)];
  };
  const total = column('1024-blocks', totalKib, 11);
  const used = column('Used', usedKib, 10);
  const available = column('Available', availableKib, 10);
  const iused = column('iused', inodesUsed, 7);
  const ifree = column('ifree', inodesFree, 5);
  return lines(
    `${'Filesystem'.padEnd(device.length)} ${total[0]} ${used[0]} ${available[0]} Capacity ${iused[0].slice(2)} ${ifree[0]} ` +
      '%iused  Mounted on',
    `${device} ${total[1]} ${used[1]} ${available[1]} ${share(usedKib, availableKib).padStart(5)}% ${iused[1]} ${ifree[1]} ` +
      `${share(inodesUsed, inodesFree).padStart(4)}%   ${dataVolume.path}`,
  );
}

/** `df -k` for the data volume, because the sealed system volume does not show the free space for models. */
export const df: Tool = {
  path: '/bin/df',
  rows: ({ mac }) => [row(['-k', dataVolume], source, dataVolumeTable(mac))],
  usage: unconfirmedUsage(
    'df',
    64,
    'usage: df [--libxo] [-b | -g | -H | -h | -k | -m | -P] [-acIilnY] [-,] [-T type] [-t type]',
    '          [file | filesystem ...]',
  ),
};

const pageBytes = 16_384;

/** Share of memory that macOS itself wires: 1434855 of 33554432 pages on a Mac Studio with 512 GiB. */
const macosShare = 1_434_855 / 33_554_432;

/** Shares of all pages, from a capture of a Mac without a loaded model. */
const shares = { active: 0.3296, inactive: 0.3364, speculative: 0.004, purgeable: 0.0027 };

/** One line: the name, and the right-aligned number with a period. */
const count = (name: string, pages: number, width = 53): string => {
  const head = `${name}:`;
  return `${head}${`${Math.round(pages)}.`.padStart(width - head.length)}`;
};

function text({ mac }: ToolView): string {
  const all = Math.floor(mac.memoryBytes / pageBytes);
  const byMacos = Math.round((mac.memoryBytes * macosShare) / pageBytes);
  const wired = byMacos + (mac.ailments.leakedWiredBytes ?? 0) / pageBytes;
  const [active, inactive, speculative] = [all * shares.active, all * shares.inactive, all * shares.speculative];
  return lines(
    `Mach Virtual Memory Statistics: (page size of ${pageBytes} bytes)`,
    count('Pages free', Math.max(0, all - active - inactive - speculative - wired)),
    count('Pages active', active),
    count('Pages inactive', inactive),
    count('Pages speculative', speculative),
    count('Pages throttled', 0, 54),
    count('Pages wired down', wired),
    count('Pages purgeable', all * shares.purgeable),
  );
}

const statistics = from.capture('vm_stat.m3ultra-512.head.txt', 'research note of an Apple-cluster monitor');

/** `vm_stat`: only its first lines were published. */
export const vmStat: Tool = {
  path: '/usr/bin/vm_stat',
  rows: (view) => [row([], statistics, text(view))],
  usage: unconfirmedUsage('vm_stat', 1, 'usage: vm_stat [[-c count] interval]'),
};

/** `pgrep ^ibv_`: the verbs tools among the model's processes; real ones return immediately. */
export const pgrep: Tool = {
  path: '/usr/bin/pgrep',
  rows: ({ mac }) => {
    const found = modelProcesses(mac).filter(({ program }) => program.startsWith('ibv_'));
    const source = from.apple('pgrep(1) of macOS: one number per line; exit 1 if no process matches');
    return [
      found.length === 0
        ? { args: ['^ibv_'], source, exitCode: 1 }
        : row(['^ibv_'], source, lines(...found.map(({ pid }) => String(pid)))),
    ];
  },
  usage: usage(
    2,
    from.apple('adv_cmds, pkill.c: usage'),
    'usage: pgrep [-Lafilnoqvx] [-F pidfile] [-G gid]',
    '             [-P ppid] [-U uid] [-d delim] [-g pgrp]',
    '             [-t tty] [-u euid] pattern ...',
  ),
};

/** The tool itself writes the file, whose absolute path may contain blanks. */
const body = `p=$1 f=$4
    kill -s 0 "$p" 2>/dev/null || { printf 'sample cannot find an existing process with the id %s\\n' "$p" >&2; exit 1; }
    printf 'Sampling process %s for 1 second with 1 millisecond of run time between samples\\n' "$p" >&2
    { printf 'Analysis of sampling process (pid %s) every 1 millisecond\\n' "$p"
      printf 'Call graph:\\n    831 Thread_1   DispatchQueue_1: com.apple.main-thread  (serial)\\n'; } >"$f" || exit 1
    printf 'Sample analysis of process %s written to file %s\\n' "$p" "$f"
    exit 0`;

/** `sample PID 1 -file FILE`: samples the positions of a process's threads for one second. */
export const sample: Tool = {
  path: '/usr/bin/sample',
  patterns: [
    {
      match: "'4:'[1-9]*' 1 -file /'*",
      body,
      source: from.apple('sample(1) of macOS: sample pid duration -file filename; the analysis text is not simulated'),
    },
  ],
  usage: unconfirmedUsage(
    'sample',
    64,
    'usage: sample <pid/partial name> [duration (secs)] [interval (msecs)] [-file filename] [-mayDie]',
  ),
};

const measured = from.capture(
  'powermetrics-cpu-gpu.m3ultra.excerpt.txt',
  'public report, Mac Studio M3 Ultra under load',
);

/** This text was never captured, but the product reads only the exit code. */
const notRoot = 'powermetrics must be invoked as the superuser';

const measure: ToolChange = ({ mac, isRoot }) => {
  if (!isRoot) return { stderr: lines(notRoot), exitCode: 1 };
  const stdout = lines(
    `Machine model: ${mac.model.id}`,
    `OS version: ${mac.macos.build}`,
    'E0-Cluster HW active residency:  90.12% (...)',
    'P0-Cluster HW active residency:   0.00% (...)',
    'CPU 0 frequency: 2244 MHz',
    'CPU 0 active residency:  67.95% (...)',
    'CPU 0 idle residency:  32.05%',
    'CPU Power: 8916 mW',
    'GPU Power: 9462 mW',
    'ANE Power: 0 mW',
    'Combined Power (CPU + GPU + ANE): 18378 mW',
    'GPU HW active frequency: 1380 MHz',
    'GPU HW active residency: 100.00% (338 MHz: 0% ... 1380 MHz: 100%)',
    'GPU idle residency:   0.00%',
  );
  return { stdout };
};

/** `powermetrics`: prints the only published sample, of a busy Mac Studio. Listed as a write, as it needs root. */
export const powermetrics: Tool = {
  path: '/usr/bin/powermetrics',
  writes: [{ form: '-n 1 -i 1000 --samplers cpu_power,gpu_power', source: measured, change: measure }],
  usage: usage(
    64,
    from.unconfirmed("powermetrics' output for unknown arguments"),
    'powermetrics: unrecognized arguments',
  ),
};
