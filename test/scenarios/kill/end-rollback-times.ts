import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Fleet } from '../../../src/sim/hosts/control/start-fleet.ts';
import { rollbackSeconds } from './kill-rack.ts';

interface Running {
  readonly pid: number;
  readonly parent: number;
  readonly command: string;
}

async function processTable(): Promise<ReadonlyMap<number, Running>> {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-ww', '-o', 'pid=,ppid=,args='], { maxBuffer: 2 ** 26 });
  const lines = stdout.split('\n').flatMap((line) => {
    const [, pid, parent, command = ''] = /^ *(\d+) +(\d+) (.*)$/.exec(line) ?? [];
    return pid === undefined ? [] : [{ pid: Number(pid), parent: Number(parent), command }];
  });
  return new Map(lines.map((one) => [one.pid, one]));
}

function ancestors(pid: number, table: ReadonlyMap<number, Running>): readonly number[] {
  const parent = table.get(pid)?.parent ?? 0;
  return parent <= 1 ? [] : [parent, ...ancestors(parent, table)];
}

/**
 * Ends the rollback delay of network changes now, by killing the sleep of the daemon that would roll them back. So the
 * delay can be long enough for any machine, and no test has to wait for it.
 */
export async function endRollbackTimes(fleet: Fleet): Promise<void> {
  const daemons = fleet.processes().flatMap(({ label, pid }) => (label === 'dev.meshwright.transaction' ? [pid] : []));
  if (daemons.length === 0) return;
  const table = await processTable();
  const isTheirs = (pid: number): boolean => ancestors(pid, table).some((one) => daemons.includes(one));
  const waits = [...table.values()].filter(({ command }) => command.endsWith(`sleep ${rollbackSeconds}`));
  for (const { pid } of waits.filter((one) => isTheirs(one.pid))) {
    try {
      process.kill(pid);
    } catch {
      // The delay ended at this very moment.
    }
  }
}
