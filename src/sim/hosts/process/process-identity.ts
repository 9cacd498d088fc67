import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

/**
 * When the process was started, in whatever form the system has it: ticks since boot on Linux (field 22 of
 * /proc/PID/stat), a date elsewhere. Two processes with one number never share it. Undefined when there is none.
 */
export async function processStart(pid: number): Promise<string | undefined> {
  if (process.platform === 'linux') {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
    const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
    // A zombie has ended; only its parent has not noticed yet.
    return fields?.[0] === 'Z' ? undefined : fields?.[19];
  }
  const options = { env: { PATH: '/bin:/usr/bin', LC_ALL: 'C' }, timeout: 5_000 };
  const found = await promisify(execFile)('ps', ['-o', 'lstart=', '-p', String(pid)], options).catch(() => undefined);
  return found?.stdout.trim() || undefined;
}

/** Whether the process that once wrote down its number and start still lives. */
export const isSameProcess = async (pid: number, start: string): Promise<boolean> =>
  (await processStart(pid)) === start;
