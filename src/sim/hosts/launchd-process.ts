import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, closeSync, constants, openSync, statSync } from 'node:fs';
import type { Exit } from '../../model/probe.ts';
import type { JobDefinition } from '../launchd/job-definition.ts';
import type { JobSignal } from '../launchd/launchd-state.ts';
import type { ProcessGroups } from './processes.ts';
import { accountVariable, homeOf, markVariable, rootMarkVariable } from './ssh/ssh-user.ts';

/** The node on which a job is started. */
interface JobPlace {
  readonly name: string;
  /** Absolute folder that stands for `/`. */
  readonly root: string;
  /** `<run id>.<node>.<boot number>`: of the present boot. */
  readonly mark: () => string;
  readonly groups: ProcessGroups;
  /** Real seconds for one second of the Mac; 1 when absent. */
  readonly clockFactor?: number;
}

/** A started job: the number of its first process, which is also its group's. */
export interface JobProcess {
  readonly pid: number;
  /** Only to its first process, and never to another one that has got the number since. */
  readonly signal: (name: JobSignal) => void;
}

/** Starts a job and tells how it ended; undefined when its program, its folder or its output files are not there. */
export type StartJob = (job: JobDefinition, onEnd: (exit: Exit, pid: number) => void) => JobProcess | undefined;

/** Where every process of a simulated launchd finds the table of link addresses. */
const linkTableVariable = 'MESHWRIGHT_LINK_TABLE';

/** How long a second of the Mac takes, in real seconds, for processes that wait as real ones do. */
const clockVariable = 'MESHWRIGHT_CLOCK';

/** The table itself, below the node's root. */
export const linkTablePath = '/.sim/link-table';

const isInside = (path: string, root: string): boolean =>
  (path === root || path.startsWith(`${root}/`)) && !path.split('/').includes('..');

/** What launchd gives a daemon, and nothing of the simulator's own environment or of the ssh session. */
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

/** Opens the file of an output; throws when its folder is not there or it leads out of the node. */
function openOutput(path: string | undefined, root: string): number {
  if (path === undefined) return openSync('/dev/null', 'a');
  if (!isInside(path, root)) throw new Error(`${path} is outside of the node`);
  return openSync(path, constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND, 0o644);
}

/** A child that is alive, or undefined when it could not be started: launchd says EX_CONFIG to all of these. */
function tryLaunch(place: JobPlace, job: JobDefinition): ChildProcess | undefined {
  const { root } = place;
  const [name, ...args] = job.words;
  const cwd = job.workingDirectory ?? root;
  // Who knows nothing of a folder that stands for `/` names a program as on a Mac.
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
 * Jobs as processes of this machine, below the root of the node: starts each in a process group of its own, below the lifeline of the fleet. When its first process has ended, what
 * is left of the group gets a TERM, as launchd does it unless the job abandons its group. `undefined` when the
 * program, its folder or its output files are not there, or not below the node's root.
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
    return {
      pid,
      signal: (name) => {
        child.kill(name);
      },
    };
  };
