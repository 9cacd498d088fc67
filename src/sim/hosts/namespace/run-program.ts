import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { promisify } from 'node:util';
import { hostTool } from '../base-tools/all-base-tools.ts';
import { markVariable } from '../ssh/exec-environment.ts';

/** What every program of the host gets: nothing of the environment of whoever started the simulator. */
const plainEnvironment = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' } as const;

const limits = { timeout: 60_000, maxBuffer: 1_048_576 } as const;

/** Runs a program of this machine to its end and gives its output. @throws Error with what it wrote, when it fails */
export async function runProgram(path: string, args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(path, [...args], { ...limits, env: plainEnvironment, cwd: '/' });
  return stdout;
}

/** What a program that is bound to this process is started with. */
export interface BoundProgram {
  /** The program and its arguments. */
  readonly words: readonly string[];
  /** By which the sweep of a later run finds it. */
  readonly mark: string;
  /** As `spawn` takes them. */
  readonly stdio: readonly ('pipe' | 'inherit' | number)[];
}

/**
 * Starts a program that the kernel kills when this process ends, however that happens. It follows the thread: only the
 * main thread of a process may call this.
 */
export const startBound = ({ words, mark, stdio }: BoundProgram): ChildProcess =>
  spawn(hostTool('setpriv') ?? 'false', ['--pdeathsig', 'KILL', ...words], {
    stdio: [...stdio],
    env: { ...plainEnvironment, [markVariable]: mark },
    cwd: '/',
  });
