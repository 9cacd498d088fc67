import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** The built command that is measured. */
export const builtCommand = join(import.meta.dirname, '..', '..', 'dist', 'cli', 'main.js');

/** A process to start. Its output goes to files, so that this process does not read during the measurement. */
export interface Start {
  readonly file: string;
  readonly args: readonly string[];
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  /** Files for the two output streams. */
  readonly stdout: string;
  readonly stderr: string;
}

/** The result of a process. */
export interface Run {
  /** The time from just before the start until the exit was observed. */
  readonly ms: number;
  readonly exitCode: number | null;
}

const deadlineMs = 120_000;

function start({ file, args, folder, env, stdout, stderr }: Start) {
  const files = [openSync(stdout, 'w'), openSync(stderr, 'w')] as const;
  const startedAt = performance.now();
  const child = spawn(file, args, { cwd: folder, env, stdio: ['ignore', ...files], timeout: deadlineMs });
  for (const one of files) closeSync(one);
  const ended = new Promise<Run>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (exitCode) => resolve({ ms: performance.now() - startedAt, exitCode }));
  });
  return { pid: child.pid ?? 0, ended };
}

/** Runs a process and measures its duration. @throws Error if it could not be started. */
export const timeRun = (what: Start): Promise<Run> => start(what).ended;

function peakKilobytes(pid: number): number {
  try {
    return Number(/^VmHWM:\s+(\d+) kB$/mu.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

/**
 * Runs a process and reads its peak resident memory from outside, as counted by the kernel (`VmHWM`, which never
 * falls), until its end. Undefined without /proc.
 */
export async function watchMemory(what: Start): Promise<Run & { readonly peakBytes: number | undefined }> {
  const { pid, ended } = start(what);
  let isOver = false;
  const over = ended.finally(() => {
    isOver = true;
  });
  over.catch(() => undefined);
  let peak = 0;
  while (!isOver) {
    peak = Math.max(peak, peakKilobytes(pid));
    await sleep(2);
  }
  return { ...(await over), peakBytes: peak === 0 ? undefined : peak * 1024 };
}
