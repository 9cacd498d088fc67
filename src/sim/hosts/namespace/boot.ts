import { type ChildProcess, execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, readFileSync, readSync, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import type { Exit } from '../../../model/probe.ts';
import type { JobProcess } from '../launchd-process.ts';
import { processStart } from '../processes.ts';
import { type Ground, startBound } from './ground.ts';

/** What a boot is made of. */
interface BootOptions {
  readonly ground: Ground;
  readonly name: string;
  /** Where the disk of the node is mounted, as the ground sees it. */
  readonly root: string;
  /** The socket of the simulator, as the ground sees it. */
  readonly askPath: string;
  /** Private to the node, for pipes. */
  readonly folder: string;
  readonly mark: string;
}

/** A job as the node itself starts it. */
export interface AgentJob {
  readonly program: string;
  readonly words: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly folder: string;
  readonly out: string;
  readonly err: string;
  /** Root when absent. */
  readonly user?: string;
  readonly abandonsGroup: boolean;
}

/** The processes of one boot of one node. */
export interface Boot {
  /** Answers when the process is there; undefined when it cannot be. Its number is that of the node's own table. */
  readonly startJob: (job: AgentJob, onEnd: (exit: Exit, pid: number) => void) => JobProcess | undefined;
  /** Whether the node listens for ssh from now on; connections that are open stay so. */
  readonly setDoor: (isOpen: boolean) => void;
  /** Ends all of them, wherever they hide; resolves when the last one is gone. */
  readonly end: () => Promise<void>;
}

const { O_RDONLY, O_WRONLY, O_NONBLOCK } = constants;
/** Ends the wait for an agent that hangs; one that has ended answers at once. */
const answerMs = 60_000;
const pollMs = 1;

/** A pipe whose writing end is ours and waits, and whose reading end is for the child. */
function pipeToChild(path: string): { readonly ours: number; readonly child: number } {
  const first = openSync(path, O_RDONLY | O_NONBLOCK);
  const ours = openSync(path, O_WRONLY);
  const child = openSync(path, O_RDONLY);
  closeSync(first);
  unlinkSync(path);
  return { ours, child };
}

function pipeFromChild(path: string): { readonly ours: number; readonly child: number } {
  const ours = openSync(path, O_RDONLY | O_NONBLOCK);
  const child = openSync(path, O_WRONLY);
  unlinkSync(path);
  return { ours, child };
}

/** Launchd has to know the number of a process before anything else happens to its job: waits without a turn. */
function readLine(fd: number): string {
  const end = Date.now() + answerMs;
  const cell = new Int32Array(new SharedArrayBuffer(4));
  const chunk = Buffer.alloc(64);
  let line = '';
  while (!line.endsWith('\n') && Date.now() < end) {
    try {
      const size = readSync(fd, chunk);
      if (size === 0) return '';
      line += chunk.subarray(0, size).toString('latin1');
    } catch {
      // EAGAIN: nothing yet.
      Atomics.wait(cell, 0, 0, pollMs);
    }
  }
  return line.trim();
}

const hex = (text: string): string => Buffer.from(text).toString('hex');

const startLine = (job: AgentJob): string => {
  const { program, words, environment, folder, out, err, user, abandonsGroup } = job;
  const head = [abandonsGroup ? '1' : '0', user ?? '', program, folder, out, err, String(words.length)];
  return `start ${[...head, ...words, ...Object.entries(environment).flat()].map(hex).join(' ')}\n`;
};

function spawnAgent({ ground, name, root, askPath, mark }: BootOptions, fds: readonly [number, number]): ChildProcess {
  const own = [`--net=/proc/${ground.pid}/root/run/netns/${name}`, `--mount=/proc/${ground.pid}/ns/mnt`];
  const unshared = ['--mount', '--uts', '--ipc', '--pid', '--fork', '--kill-child=KILL', '--propagation', 'private'];
  const words = ['nsenter', ...own, 'unshare', ...unshared, '/bin/sh', '-c', bootProgram, 'sh', root, name, askPath];
  return startBound({ words, mark, stdio: [fds[0], 'pipe', 'pipe', fds[1]] });
}

/** The process on this machine that is the first one of the node. */
function firstProcess(parent: number): number | undefined {
  const path = `/proc/${parent}/task/${parent}/children`;
  const number = Number(readFileSync(path, 'utf8').trim().split(' ')[0]);
  return number > 0 ? number : undefined;
}

/** Resolves when the agent says that it is up. @throws Error with what was written, when it ends instead */
function whenUp(child: ChildProcess, onLine: (line: string) => void): Promise<void> {
  const { stdout, stderr } = child;
  if (stdout === null) throw new Error('no output of a simulated node');
  let written = '';
  stderr?.on('data', (chunk: Buffer) => {
    written = `${written}${chunk.toString('utf8')}`.slice(-2_000);
  });
  return new Promise((resolve, reject) => {
    const failed = (): void => reject(new Error(`a simulated node did not start: ${written.trim()}`));
    child.once('error', failed);
    child.once('close', failed);
    createInterface({ input: stdout }).on('line', (line) => {
      if (line === 'up') resolve();
      else onLine(line);
    });
  });
}

function exitOf(what: string, how: string): Exit {
  return what === 'exited' ? { kind: 'exited', code: Number(how) } : { kind: 'signalled', signal: how };
}

/** Starts a node: its disk and its network are there already. @throws Error when it does not come up */
export async function startBoot(options: BootOptions): Promise<Boot> {
  const paths = [join(options.folder, 'requests'), join(options.folder, 'answers')] as const;
  execFileSync('mkfifo', ['-m', '600', ...paths]);
  const [requests, answers] = [pipeToChild(paths[0]), pipeFromChild(paths[1])];
  const child = spawnAgent(options, [requests.child, answers.child]);
  closeSync(requests.child);
  closeSync(answers.child);
  const jobs = new Map<number, (exit: Exit, pid: number) => void>();
  const closed = new Promise<void>((resolve) => {
    child.once('error', () => resolve());
    child.once('close', () => resolve());
  });
  let isOver = false;
  const hear = (line: string): void => {
    const [what = '', pid = '', how = ''] = line.split(' ');
    const onEnd = jobs.get(Number(pid));
    jobs.delete(Number(pid));
    onEnd?.(exitOf(what, how), Number(pid));
  };
  const shut = (): void => {
    if (isOver) return;
    isOver = true;
    closeSync(requests.ours);
    closeSync(answers.ours);
  };
  await whenUp(child, hear).catch((error: unknown) => {
    child.kill('SIGKILL');
    shut();
    throw error;
  });
  const first = child.pid === undefined ? undefined : firstProcess(child.pid);
  const tell = (line: string): void => {
    if (!isOver) writeSync(requests.ours, line);
  };
  return {
    startJob: (job, onEnd) => {
      tell(startLine(job));
      const pid = isOver ? 0 : Number(readLine(answers.ours));
      if (!(pid > 0)) return undefined;
      jobs.set(pid, onEnd);
      return { pid, signal: (name) => tell(`signal ${pid} ${name.slice(3)}\n`) };
    },
    setDoor: (isOpen) => tell(`door ${isOpen ? 1 : 0}\n`),
    end: async () => {
      jobs.clear();
      shut();
      child.kill('SIGKILL');
      await closed;
      while (first !== undefined && (await processStart(first)) !== undefined) await pause(pollMs);
    },
  };
}
/**
 * What becomes the first process of a boot, in namespaces of its own and still with the programs of this machine. It
 * gives the node its name, its processes, its devices and the socket of the simulator, and leaves everything else of
 * this machine behind. Arguments: the root, the name, the socket.
 */
const bootProgram = `set -eu
root=$1 name=$2 socket=$3
mount -t proc proc "$root/proc"
printf '%s' "$name" >"$root/proc/sys/kernel/hostname"
mount -t tmpfs -o mode=755,size=64k devices "$root/dev"
for one in 'null 1 3' 'zero 1 5' 'full 1 7' 'random 1 8' 'urandom 1 9' 'tty 5 0'; do
  set -- $one
  mknod -m 666 "$root/dev/$1" c "$2" "$3"
done
mkdir "$root/dev/pts"
mount -t devpts -o newinstance,ptmxmode=0666,mode=620 terminals "$root/dev/pts"
ln -s pts/ptmx "$root/dev/ptmx"
ln -s /proc/self/fd "$root/dev/fd"
for one in 'stdin 0' 'stdout 1' 'stderr 2'; do ln -s "/proc/self/fd/\${one#* }" "$root/dev/\${one% *}"; done
mount --bind "$socket" "$root/.sim/socket"
cd "$root"
pivot_root . .sim/outside
/.sim/programs/umount -l /.sim/outside
exec /usr/bin/perl /.sim/agent
`;
