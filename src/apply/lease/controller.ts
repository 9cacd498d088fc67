import { execFile } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { readFile, readlink } from 'node:fs/promises';
import { hostname, userInfo } from 'node:os';
import { promisify } from 'node:util';
import type { LeaseClaim } from '../../engine/scripts/lease.ts';

/** The process that runs plans, as the owner file of a lease names it. */
export interface Controller {
  /**
   * 12 hexadecimal digits of the host name, the boot of this computer and its PID namespace: the same only where `pid`
   * means the same process. Random where these cannot be read.
   */
  readonly id: string;
  /** `user@host`. */
  readonly name: string;
  readonly pid: number;
  /** When the process began, in the system's own form: a number that was used again is told apart by it. */
  readonly pidStart: string;
}

/** What a run of this controller signs a lease with. */
export const claimOf = (
  { name, id, pid, pidStart }: Controller,
  { run, verb, phase, since }: Pick<LeaseClaim, 'run' | 'verb' | 'phase' | 'since'>,
): LeaseClaim => ({ run, owner: name, verb, phase, controller: id, pid, start: pidStart, since });

/** This process on this computer. */
export async function thisController(): Promise<Controller> {
  const host = hostname();
  const { pid } = process;
  return {
    id: controllerId(host, (await processTable()) ?? randomUUID()),
    name: `${userInfo().username}@${host}`,
    pid,
    pidStart: (await processStart(pid)) ?? 'unknown',
  };
}

/** 12 digits of the SHA-256 of a host name and of what tells apart the process tables of computers and containers. */
export const controllerId = (host: string, table: string): string =>
  createHash('sha256').update(`${host}\n${table}`).digest('hex').slice(0, 12);

/**
 * The boot of this computer, on Linux with the PID namespace, since containers have the host name and the network of
 * their computer. Undefined where it is not known, as where `/proc` is that of another namespace.
 *
 * @see proc_sys_kernel(5): random/boot_id; pid_namespaces(7); sysctl(3) of Darwin: kern.bootsessionuuid
 */
async function processTable(): Promise<string | undefined> {
  try {
    if (process.platform === 'darwin') return await printed('sysctl', '-n', 'kern.bootsessionuuid');
    const [own, boot, namespace] = await Promise.all([
      readlink('/proc/self'),
      readFile('/proc/sys/kernel/random/boot_id', 'utf8'),
      readlink('/proc/self/ns/pid'),
    ]);
    return Number(own) === process.pid ? `${boot.trim()} ${namespace}` : undefined;
  } catch {
    return undefined;
  }
}

/** What a program of this computer prints; undefined where that is nothing. */
async function printed(program: string, ...words: readonly string[]): Promise<string | undefined> {
  // Without a fixed zone the same date would read differently after a journey.
  const options = { env: { PATH: '/bin:/usr/bin:/usr/sbin', LC_ALL: 'C', TZ: 'UTC' }, timeout: 5_000 };
  const { stdout } = await promisify(execFile)(program, words, options);
  return stdout.trim() || undefined;
}

/**
 * When a process of this computer began: ticks since boot on Linux (field 22 of /proc/PID/stat), a date elsewhere;
 * `ended` for a zombie, which only its parent has not noticed yet. Undefined where it cannot be read.
 */
export async function processStart(pid: number): Promise<string | undefined> {
  if (process.platform === 'linux') {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
    const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields?.[0] === 'Z' ? 'ended' : fields?.[19];
  }
  const date = await printed('ps', '-o', 'lstart=', '-p', String(pid)).catch(() => undefined);
  return date?.replaceAll(/\s+/g, '-');
}

/**
 * Whether a process of this process table has ended, or its number belongs to another one now. False where that is not
 * certain: `/proc` may hide the processes of other users.
 */
export async function hasEnded(pid: number, start: string): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return true;
  }
  const now = await processStart(pid);
  return now !== undefined && start !== 'unknown' && now !== start;
}
