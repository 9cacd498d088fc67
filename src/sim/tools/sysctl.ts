import { darwinRelease } from '../model/macos-builds.ts';
import { from, lines, type NamedValue, type Tool, type ToolChange, type ToolView, unconfirmedUsage } from './tool.ts';

const source = from.apple(
  'sysctl.c of system_cmds: "name: old -> new"; without root the old value, a complaint and exit 1',
);

const name = 'iogpu.wired_limit_mb';

/** Sets the only supported name. The value is lost at the next boot. */
const setLimit: ToolChange = ({ mac, isRoot, words: [value = ''] }) => {
  const old = mac.wiredLimitMegabytes;
  if (value === '') return { stderr: lines('sysctl: empty numeric value'), exitCode: 1 };
  if (!/^\d{1,9}$/.test(value)) return { stderr: lines(`sysctl: invalid integer '${value}'`), exitCode: 1 };
  if (!isRoot) {
    const stderr = lines(`sysctl: ${name}=${value}: Operation not permitted`);
    return { stdout: lines(`${name}: ${old}`), stderr, exitCode: 1 };
  }
  return { after: { wiredLimitMegabytes: Number(value) }, stdout: lines(`${name}: ${old} -> ${Number(value)}`) };
};

const boot = from.capture('sysctl-boot.2026-09-26.txt', 'public work log, macOS 26 or 27');
const memory = from.modelled('sysctl-memory.m3ultra-512.txt', 'public Zig test, Mac Studio M3 Ultra');
const swap = from.published('vm.swapusage of a Mac under load, in a public test of a resource monitor (T12981)');
const identifiers = from.published('hw.model of each Mac, as listed by Apple and public inventories');
const usual = from.unconfirmed('sysctl names for the kernel and the processor counts on Apple silicon');

/** `Sat Sep 26 06:16:55 2026`, in UTC, the only time zone of simulated Macs. */
function ctime(epochSeconds: number): string {
  const [weekday, day, month, year, time] = new Date(epochSeconds * 1000).toUTCString().split(/,? /);
  return `${weekday} ${month} ${String(Number(day)).padStart(2)} ${time} ${year}`;
}

/** The boot time shifts with the clock, because the kernel adds each clock step to the boot time. */
function bootTime({ mac }: ToolView): string {
  const seconds = mac.bootSession.bootedAtEpochSeconds + mac.clockOffsetSeconds;
  return `{ sec = ${seconds}, usec = ${(seconds * 7919) % 1_000_000} } ${ctime(seconds)}`;
}

/** macOS adds swap files of 1 GiB as needed, and shows two decimals. */
function swapUsage({ mac }: ToolView): string {
  const used = mac.ailments.swapUsedMegabytes ?? 0;
  const total = Math.ceil(used / 1_024 + 0.5) * 1_024 * Number(used > 0);
  const [all, taken, free] = [total, used, total - used].map((megabytes) => `${megabytes.toFixed(2)}M`);
  return `total = ${all}  used = ${taken}  free = ${free}  (encrypted)`;
}

function values(view: ToolView): readonly NamedValue[] {
  const { mac } = view;
  const cores = Number.parseInt(mac.model.processorText, 10);
  const named = (
    source: NamedValue['source'],
    entries: Readonly<Record<string, string | number>>,
  ): readonly NamedValue[] => Object.entries(entries).map(([name, value]) => ({ name, value: String(value), source }));
  return [
    ...named(identifiers, { 'hw.model': mac.model.id }),
    ...named(memory, {
      'hw.memsize': mac.memoryBytes,
      'hw.pagesize': 16_384,
      'iogpu.wired_limit_mb': mac.wiredLimitMegabytes,
      'machdep.cpu.brand_string': mac.model.chip,
    }),
    ...named(boot, { 'kern.boottime': bootTime(view), 'kern.bootsessionuuid': mac.bootSession.uuid }),
    ...named(swap, { 'vm.swapusage': swapUsage(view) }),
    ...named(usual, {
      'hw.ncpu': cores,
      'hw.physicalcpu': cores,
      'hw.logicalcpu': cores,
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

/** `sysctl NAME…` and `sysctl -n NAME…`, and changes of one name. */
export const sysctl: Tool = {
  path: '/usr/sbin/sysctl',
  values,
  writes: [
    { form: `${name}=VALUE`, source, change: setLimit },
    { form: `-w ${name}=VALUE`, source, change: setLimit },
  ],
  usage: unconfirmedUsage(
    'sysctl',
    1,
    'usage: sysctl [-bdehiNnoqrx] name[=value] ...',
    '       sysctl [-bdehNnoqrx] -a',
  ),
};
