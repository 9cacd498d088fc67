import { withMac } from '../../model/fleet.ts';
import { darwinRelease } from '../../model/macos-builds.ts';
import {
  apple,
  capture,
  lines,
  modelled,
  type NamedValue,
  type NameTool,
  published,
  type Source,
  unconfirmed,
  type View,
  type WriteCall,
  type WriteForm,
  type WriteResult,
  type Writes,
} from '../tool.ts';

const source = apple('sysctl.c of system_cmds: "name: old -> new"; without root the old value, a complaint and exit 1');

const name = 'iogpu.wired_limit_mb';

const forms: readonly WriteForm[] = [
  { form: `${name}=VALUE`, match: `'1:${name}='*`, source },
  { form: `-w ${name}=VALUE`, match: `'2:-w ${name}='*`, source },
];

function write({ fleet, mac }: View, { args, isRoot }: WriteCall): WriteResult {
  const word = args.at(-1) ?? '';
  const value = word.slice(name.length + 1);
  const old = mac.wiredLimitMegabytes;
  if (value === '') return { fleet, stderr: lines('sysctl: empty numeric value'), exitCode: 1 };
  if (!/^\d{1,9}$/.test(value)) return { fleet, stderr: lines(`sysctl: invalid integer '${value}'`), exitCode: 1 };
  if (!isRoot) {
    const stderr = lines(`sysctl: ${word}: Operation not permitted`);
    return { fleet, stdout: lines(`${name}: ${old}`), stderr, exitCode: 1 };
  }
  return {
    fleet: withMac(fleet, mac.name, (one) => ({ ...one, wiredLimitMegabytes: Number(value) })),
    stdout: lines(`${name}: ${old} -> ${Number(value)}`),
  };
}

/** `sysctl iogpu.wired_limit_mb=N`, the one name that is written here. It lasts until the next boot. */
const sysctlWrites: Writes = { forms, write };

const boot = capture('sysctl-boot.2026-09-26.txt', 'public work log, macOS 26 or 27');
const memory = modelled('sysctl-memory.m3ultra-512.txt', 'public Zig test, Mac Studio M3 Ultra');
const identifiers = published('hw.model of each Mac as Apple and public inventories list it');
const usual = unconfirmed('sysctl names of the kernel and of the processor counts on Apple silicon');

const weekdays = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** `Sat Sep 26 06:16:55 2026`, in UTC: simulated Macs know no other time zone. */
function ctime(epochSeconds: number): string {
  const at = new Date(epochSeconds * 1000);
  const time = at.toISOString().slice(11, 19);
  const day = String(at.getUTCDate()).padStart(2, ' ');
  return `${weekdays[at.getUTCDay()]} ${months[at.getUTCMonth()]} ${day} ${time} ${at.getUTCFullYear()}`;
}

/** The boot time moves with the clock: the kernel adds the step to it. */
function bootTime({ mac }: View): string {
  const seconds = mac.bootSession.bootedAtEpochSeconds + mac.clockOffsetSeconds;
  return `{ sec = ${seconds}, usec = ${(seconds * 7919) % 1_000_000} } ${ctime(seconds)}`;
}

function values(view: View): readonly NamedValue[] {
  const { mac } = view;
  const { performance, efficiency } = mac.model.cores;
  const named = (source: Source, entries: Readonly<Record<string, string | number>>): readonly NamedValue[] =>
    Object.entries(entries).map(([name, value]) => ({ name, value: String(value), source }));
  return [
    ...named(identifiers, { 'hw.model': mac.model.id }),
    ...named(memory, {
      'hw.memsize': mac.memoryBytes,
      'hw.pagesize': 16_384,
      'iogpu.wired_limit_mb': mac.wiredLimitMegabytes,
      'machdep.cpu.brand_string': mac.model.chip,
    }),
    ...named(boot, { 'kern.boottime': bootTime(view), 'kern.bootsessionuuid': mac.bootSession.uuid }),
    ...named(usual, {
      'hw.ncpu': performance + efficiency,
      'hw.physicalcpu': performance + efficiency,
      'hw.logicalcpu': performance + efficiency,
      'hw.optional.arm64': 1,
      'kern.hostname': `${mac.name}.local`,
      'kern.memorystatus_vm_pressure_level': 1,
      'kern.osproductversion': mac.macos.version,
      'kern.osrelease': darwinRelease(mac.macos.version),
      'kern.ostype': 'Darwin',
      'kern.osversion': mac.macos.build,
    }),
  ];
}

/** `sysctl NAME…` and `sysctl -n NAME…`, and one name that can be set. */
export const sysctl: NameTool = {
  kind: 'names',
  path: '/usr/sbin/sysctl',
  values,
  writes: sysctlWrites,
  usage: {
    text: lines('usage: sysctl [-bdehiNnoqrx] name[=value] ...', '       sysctl [-bdehNnoqrx] -a'),
    exitCode: 1,
    source: unconfirmed("sysctl's usage text and exit code 1"),
  },
};
