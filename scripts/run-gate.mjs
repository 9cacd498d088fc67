/** Runs a command of `.ci/run` or of the night: limits its time, counts its CPU time, and ends what it leaves behind. */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmdirSync, rmSync } from 'node:fs';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));

/** A folder of its own, removed when this process exits. */
export function temporaryFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'meshwright-gates-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

let groups = 0;

/**
 * A control group for the processes of a gate, which keeps detached ones too; undefined without Linux, cgroup v2 or
 * root. The kernel counts the CPU time of each group.
 */
function openGroup() {
  try {
    const [, mount] = readFileSync('/proc/self/mounts', 'utf8').match(/^\S+ (\S+) cgroup2 /m);
    const [, own] = readFileSync('/proc/self/cgroup', 'utf8').match(/^0::(.*)$/m);
    groups += 1;
    const path = join(mount, own, `meshwright-gate-${process.pid}-${groups}`);
    mkdirSync(path);
    return path;
  } catch {
    return undefined;
  }
}

const processesIn = (group) =>
  existsSync(group) ? readFileSync(join(group, 'cgroup.procs'), 'utf8').split('\n').filter(Boolean).map(Number) : [];

function signal(pids, name) {
  for (const pid of pids) {
    try {
      process.kill(pid, name);
    } catch {
      // It has ended.
    }
  }
}

function commandLine(pid) {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim().slice(0, 100);
  } catch {
    return '';
  }
}

/** Ends the processes that a gate has left in its group, and names them. */
async function closeGroup(group) {
  for (let tries = 0; tries < 20 && processesIn(group).length > 0; tries += 1) await sleep(100);
  const left = processesIn(group);
  for (const line of left.map(commandLine).filter(Boolean)) process.stdout.write(`left behind, ended: ${line}\n`);
  signal(left, 'SIGTERM');
  for (let tries = 0; tries < 50 && processesIn(group).length > 0; tries += 1) {
    await sleep(100);
    if (tries >= 20) signal(processesIn(group), 'SIGKILL');
  }
  const [, usage] = readFileSync(join(group, 'cpu.stat'), 'utf8').match(/^usage_usec (\d+)$/m) ?? [];
  try {
    rmdirSync(group);
  } catch {
    // A process that cannot be killed is still in it.
  }
  return Number(usage) / 1e6;
}

let running;
for (const [name, exitCode] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
]) {
  process.on(name, async () => {
    await running?.stop();
    process.exit(exitCode);
  });
}

/** A busy machine gets up to three times the minutes of a gate. */
const tickMs = 1_000;
const slowness = () => Math.min(3, Math.max(1, loadavg()[0] / availableParallelism()));

/**
 * Runs a gate without a terminal or input.
 *
 * @returns the verdict, the seconds, and the CPU seconds (NaN without control groups)
 * @param gate its `name`, `command`, `minutes` and `env`. One that `isInstallation` gets a SIGTERM at its limit, and
 *   ends when it wants to: a killed dpkg would break the machine. All others are killed with all their processes.
 */
export async function runGate({ name, command, minutes, env = {}, isInstallation = false }) {
  const group = openGroup();
  const enter = group === undefined ? '' : `echo $$ >'${group}/cgroup.procs'\n`;
  const startedAt = performance.now();
  // The signal must reach the installation itself, so it takes the place of this shell.
  const child = spawn('bash', ['-c', `${enter}${isInstallation ? 'exec ' : ''}${command}`], {
    cwd: root,
    env: { ...process.env, CI: '1', NO_COLOR: '1', ...env },
    stdio: ['ignore', 'inherit', 'inherit'],
    detached: true,
  });
  const ended = new Promise((settle) => child.on('exit', (code) => settle(code)));
  running = {
    stop: async () => {
      if (isInstallation) signal([child.pid], 'SIGTERM');
      else signal([-child.pid, ...(group === undefined ? [] : processesIn(group))], 'SIGKILL');
      await ended;
      if (group !== undefined) await closeGroup(group);
    },
  };
  let leftMs = minutes * 60_000;
  const watchdog = setInterval(() => {
    leftMs -= tickMs / slowness();
    if (leftMs > 0) return;
    clearInterval(watchdog);
    process.stdout.write(`gate ${name}: not done after ${minutes} minutes\n`);
    if (isInstallation) signal([child.pid], 'SIGTERM');
    else signal([-child.pid], 'SIGKILL');
  }, tickMs);
  const code = await ended;
  clearInterval(watchdog);
  running = undefined;
  const cpuSeconds = group === undefined ? Number.NaN : await closeGroup(group);
  return { isGreen: code === 0, seconds: (performance.now() - startedAt) / 1_000, cpuSeconds };
}
