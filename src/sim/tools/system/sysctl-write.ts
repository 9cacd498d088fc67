import { withMac } from '../../model/fleet.ts';
import { apple } from '../source.ts';
import { lines, type View, type WriteCall, type WriteForm, type WriteResult, type Writes } from '../tool.ts';

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
export const sysctlWrites: Writes = { forms, write };
