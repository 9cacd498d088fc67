import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, closeSync, constants, openSync, statSync } from 'node:fs';
import type { Exit } from '../../model/probe.ts';
import type { JobDefinition } from '../launchd/job-definition.ts';
import type { JobSignal } from '../launchd/launchd-state.ts';
import type { ProcessGroups } from './processes.ts';
import { accountVariable, homeOf, markVariable, rootMarkVariable } from './ssh/ssh-user.ts';

interface JobPlace {
  readonly name: string;
  /** Absolute path of the folder that represents `/`. */
  readonly root: string;
  /** `<run id>.<node>.<boot number>` of the current boot session. */
  readonly mark: () => string;
  readonly groups: ProcessGroups;
  /** Real seconds per second of the Mac (default 1). */
  readonly clockFactor?: number;
}

/** A started job; `pid` is the number of the job's first process and process group. */
export interface StartedJob {
  readonly pid: number;
  /** Signals only the job's first process, never a later process with the same number. */
  readonly signal: (name: JobSignal) => void;
}

/** Starts a job and reports its exit. Undefined if its program, its folder or its output files are missing. */
export type StartJob = (job: JobDefinition, onEnd: (exit: Exit, pid: number) => void) => StartedJob | undefined;

/** Variable with the path of the link table, for every process of a simulated launchd. */
const linkTableVariable = 'MESHWRIGHT_LINK_TABLE';

/** Variable with the real seconds per second of the Mac, for processes that simulate waiting times. */
const clockVariable = 'MESHWRIGHT_CLOCK';

/** Path of the link table, below the node's root. */
export const linkTablePath = '/.sim/link-table';

const isInside = (path: string, root: string): boolean =>
  (path === root || path.startsWith(`${root}/`)) && !path.split('/').includes('..');

/** The environment of a daemon under launchd, without variables of the simulator or of an ssh session. */
function environmentOf({ root, mark, clockFactor = 1 }: JobPlace, job: JobDefinition): Record<string, string> {
  const user = job.userName;
  return {
    PATH: ['/usr/bin', '/bin', '/usr/sbin', '/sbin'].map((folder) => root + folder).join(':'),
    XPC_FLAGS: '0x0',
    XPC_SERVICE_NAME: job.label,
    ...(user === undefined || user === 'root'
      ? { [rootMarkVariable]: '1' }
      : { USER: user, LOGNAME: user, HOME: homeOf(root, user), SHELL: `${root}/bin/sh`, [accountVariable]: user }),
    ...job.environment,
    [linkTableVariable]: root + linkTablePath,
    [clockVariable]: String(clockFactor),
    [markVariable]: mark(),
  };
}

/** Opens an output file; throws if its folder is missing or outside the node. */
function openOutput(path: string | undefined, root: string): number {
  if (path === undefined) return openSync('/dev/null', 'a');
  if (!isInside(path, root)) throw new Error(`${path} is outside the node`);
  return openSync(path, constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND, 0o644);
}

/** A running child, or undefined if it could not be started: launchd reports EX_CONFIG for all such errors. */
function tryLaunch(place: JobPlace, job: JobDefinition): ChildProcess | undefined {
  const { root } = place;
  const [name, ...args] = job.words;
  const cwd = job.workingDirectory ?? root;
  // The program's path has no root prefix if the job was written as for a real Mac.
  const program = isInside(job.program, root) ? job.program : root + job.program;
  const outputs: number[] = [];
  try {
    outputs.push(openOutput(job.standardOutPath, root), openOutput(job.standardErrorPath, root));
    if (!isInside(program, root) || !isInside(cwd, root)) return undefined;
    accessSync(program, constants.X_OK);
    if (!statSync(program).isFile() || !statSync(cwd).isDirectory()) return undefined;
    const child = spawn(program, args, {
      argv0: name ?? program,
      cwd,
      env: environmentOf(place, job),
      detached: true,
      stdio: ['ignore', outputs[0], outputs[1]],
    });
    child.on('error', () => undefined);
    return child;
  } catch {
    return undefined;
  } finally {
    for (const fd of outputs) closeSync(fd);
  }
}

const exitOf = (code: number | null, signal: string | null): Exit =>
  code === null ? { kind: 'signalled', signal: (signal ?? '').replace(/^SIG/, '') } : { kind: 'exited', code };

/**
 * Runs jobs as processes of this machine, below the node's root. Each job gets its own process group, which the fleet's
 * lifeline guards. After the first process exits, the rest of the group receives TERM, as under launchd, unless the job
 * abandons its group. Returns undefined if the program, its folder or its output files are missing or outside the
 * node's root.
 *
 * @see launchd.plist(5): AbandonProcessGroup
 */
export const startBelow =
  (place: JobPlace): StartJob =>
  (job, onEnd) => {
    const child = tryLaunch(place, job);
    const pid = child?.pid;
    if (child === undefined || pid === undefined) return undefined;
    place.groups.add(pid, place.name);
    child.unref();
    child.once('exit', (code, signal) => {
      if (!job.abandonsGroup) place.groups.signal(pid, 'SIGTERM');
      place.groups.leaderEnded(pid);
      onEnd(exitOf(code, signal), pid);
    });
    return { pid, signal: (name) => void child.kill(name) };
  };
