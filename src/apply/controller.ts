import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { hostname, networkInterfaces, userInfo } from 'node:os';
import { promisify } from 'node:util';

/** The process that runs plans, as the owner file of a lease names it. */
export interface Controller {
  /** 12 hexadecimal digits of this computer. */
  readonly id: string;
  /** `user@host`. */
  readonly name: string;
  readonly pid: number;
  /** When the process began, in the system's own form: a number that was used again is told apart by it. */
  readonly pidStart: string;
}

/** This process on this computer. */
export async function thisController(): Promise<Controller> {
  const host = hostname();
  const { pid } = process;
  return {
    id: controllerId(host, macAddresses()),
    name: `${userInfo().username}@${host}`,
    pid,
    pidStart: (await processStart(pid)) ?? 'unknown',
  };
}

/** 12 digits of the SHA-256 of the host name and the sorted MAC addresses. */
export const controllerId = (host: string, macs: readonly string[]): string =>
  createHash('sha256')
    .update([host, ...[...macs].sort()].join('\n'))
    .digest('hex')
    .slice(0, 12);

function macAddresses(): readonly string[] {
  const all = Object.values(networkInterfaces()).flatMap((one) => one ?? []);
  return [...new Set(all.filter((one) => !one.internal).map((one) => one.mac))];
}

/**
 * When a process of this computer began: ticks since boot on Linux (field 22 of /proc/PID/stat), a date elsewhere.
 * Undefined when there is none.
 */
export async function processStart(pid: number): Promise<string | undefined> {
  if (process.platform === 'linux') {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
    const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
    // A zombie has ended; only its parent has not noticed yet.
    return fields?.[0] === 'Z' ? undefined : fields?.[19];
  }
  // Without a fixed zone the same date would read differently after a journey.
  const options = { env: { PATH: '/bin:/usr/bin', LC_ALL: 'C', TZ: 'UTC' }, timeout: 5_000 };
  const found = await promisify(execFile)('ps', ['-o', 'lstart=', '-p', String(pid)], options).catch(() => undefined);
  return found?.stdout.trim().replaceAll(/\s+/g, '-') || undefined;
}
