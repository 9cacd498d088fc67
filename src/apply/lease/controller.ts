import { execFile } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { readFile, readlink } from 'node:fs/promises';
import { hostname, userInfo } from 'node:os';
import { promisify } from 'node:util';
import type { LeaseClaim } from '../../engine/scripts/lease.ts';
import type { Digest } from '../../model/digest.ts';
import { identityDigest } from '../../model/facts/mac.ts';
import { identityFact } from '../../rack/identity/fact.ts';

/** The process that runs plans, as the owner file of a lease names it. */
export interface Controller {
  /**
   * 12 hexadecimal digits from the host name, this computer's boot and its PID namespace: equal only if `pid` means the
   * same process. Random if these cannot be read.
   */
  readonly id: string;
  /** `user@host`. */
  readonly name: string;
  readonly pid: number;
  /** The process's start time in the system's own form, which tells apart reused PIDs. */
  readonly pidStart: string;
}

export const claimOf = (
  { name, id, pid, pidStart }: Controller,
  { run, verb, phase, since }: Pick<LeaseClaim, 'run' | 'verb' | 'phase' | 'since'>,
): LeaseClaim => ({ run, owner: name, verb, phase, controller: id, pid, start: pidStart, since });

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

/** 12 digits of the SHA-256 of a host name and a process table id, which differs between containers. */
export const controllerId = (host: string, table: string): string =>
  createHash('sha256').update(`${host}\n${table}`).digest('hex').slice(0, 12);

/**
 * An id of this computer's boot, on Linux with the PID namespace, because containers may share the host name. Undefined
 * if unknown, such as with another namespace's `/proc`.
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

/** The identity of the Mac that runs this program; undefined on any other computer, or if it is unknown. */
export async function ownIdentity(): Promise<Digest | undefined> {
  if (process.platform !== 'darwin') return undefined;
  const text = await printed('ioreg', '-rd1', '-c', 'IOPlatformExpertDevice').catch(() => undefined);
  return text === undefined ? undefined : identityIn(text);
}

/** The identity in the output of `ioreg -rd1 -c IOPlatformExpertDevice`, as an observation reads it on a node. */
export function identityIn(stdout: string): Digest | undefined {
  const exit = { kind: 'exited', code: 0 } as const;
  const rest = { stderr: '', isTruncated: false, isLate: false, isUtf8: true };
  const found = identityFact.parse([undefined, { probe: 'platform-device', exit, stdout, ...rest }], {
    sentAtEpochMs: 0,
    receivedAtEpochMs: 0,
  });
  return found.kind === 'known' ? identityDigest(found.value) : undefined;
}

/** The output of a local program; undefined if empty. */
async function printed(program: string, ...words: readonly string[]): Promise<string | undefined> {
  // A fixed time zone, so that the same date always reads the same.
  const options = { env: { PATH: '/bin:/usr/bin:/usr/sbin', LC_ALL: 'C', TZ: 'UTC' }, timeout: 5_000 };
  const { stdout } = await promisify(execFile)(program, words, options);
  return stdout.trim() || undefined;
}

/** The start of a local process: clock ticks since boot on Linux, else a date; `ended` for a zombie; may be unknown. */
export async function processStart(pid: number): Promise<string | undefined> {
  if (process.platform === 'linux') {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
    const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields?.[0] === 'Z' ? 'ended' : fields?.[19];
  }
  const date = await printed('ps', '-o', 'lstart=', '-p', String(pid)).catch(() => undefined);
  return date?.replaceAll(/\s+/g, '-');
}

/** Whether a local process has ended or its PID was reused. False if uncertain: `/proc` may hide others' processes. */
export async function hasEnded(pid: number, start: string): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return true;
  }
  const now = await processStart(pid);
  return now !== undefined && start !== 'unknown' && now !== start;
}
