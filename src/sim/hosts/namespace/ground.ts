import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { hostTool } from '../base-tools/all-base-tools.ts';
import { markVariable } from '../ssh/ssh-user.ts';
import { createTurns } from '../turns.ts';

/**
 * Connects on behalf of others from the network that it stands in: whoever connects to its socket first names an
 * address and a port in one line, then speaks with whoever listens there. A refused connection ends at once, a silent
 * one stays as it is.
 */
const forwarderProgram = `
const net = require('node:net');
const server = net.createServer({ allowHalfOpen: true, pauseOnConnect: true }, (client) => {
  client.on('error', () => client.destroy());
  let head = Buffer.alloc(0);
  const read = (chunk) => {
    head = Buffer.concat([head, chunk]);
    const at = head.indexOf(10);
    if (at < 0) return;
    client.off('data', read);
    client.pause();
    const [host, port] = head.subarray(0, at).toString().split(' ');
    const far = net.connect({ host, port: Number(port), allowHalfOpen: true, noDelay: true });
    far.on('error', () => client.destroy());
    far.on('close', () => client.destroySoon());
    client.on('close', () => far.destroy());
    far.once('connect', () => {
      far.write(head.subarray(at + 1));
      client.pipe(far);
      far.pipe(client);
    });
  };
  client.on('data', read);
  client.resume();
});
server.listen(process.argv[1], () => process.stdout.write('up\\n'));
process.stdin.on('end', () => process.exit(0)).resume();
`;

/** Starts it in the network of the ground. `path` is where it listens, a socket that only this user can use. */
export async function startForwarder(ground: Ground, path: string, mark: string) {
  const net = `--net=/proc/${ground.pid}/ns/net`;
  const words = ['nsenter', net, process.execPath, '-e', forwarderProgram, path];
  const child = startBound({ words, mark, stdio: ['pipe', 'pipe', 'inherit'] });
  const { stdin, stdout } = child;
  if (stdout === null) throw new Error('no output of the forwarder');
  const ended = once(child, 'close');
  const up = once(createInterface({ input: stdout }), 'line');
  const failed = ended.then(() => {
    throw new Error('the forwarder of the simulated fleet did not start');
  });
  await Promise.race([up, failed]);
  failed.catch(() => undefined);
  return {
    dial: (address: string, port: number): Socket => {
      const socket = connect({ path, allowHalfOpen: true });
      socket.on('error', () => undefined);
      socket.write(`${address} ${port}\n`);
      return socket;
    },
    close: async (): Promise<void> => {
      stdin?.end();
      child.kill('SIGKILL');
      await ended.catch(() => undefined);
    },
  };
}

/** Reaches addresses of the office network from outside of it. */
export type Forwarder = Awaited<ReturnType<typeof startForwarder>>;

/**
 * The ground on which the nodes of one fleet stand: a process with a mount namespace and the network namespace of the
 * office. The namespaces of the nodes and their disks exist by it alone, so nothing of them outlives it.
 */
export interface Ground {
  readonly pid: number;
  /** Runs commands of sh there, one call after the other. @throws Error with what they wrote, when one fails */
  readonly run: (commands: string) => Promise<void>;
  /** Resolves when it has ended, and with it every namespace and mount. */
  readonly close: () => Promise<void>;
}

/** Private places for the names of network namespaces; the rest of the machine sees none of it. */
const prepareText = 'mount -t tmpfs tmpfs /run\nmkdir /run/netns\n';

const words = ['unshare', '--mount', '--net', '--propagation', 'private', '/bin/sh'] as const;

const failure = (text: string): Error => new Error(`the ground of the simulated fleet: ${text.trim()}`);

/** What a process writes, both outputs in one, and whether it has ended; the listener is told of either. */
function listenTo(child: ChildProcess) {
  const state = { heard: '', isOver: false, listener: (): void => undefined };
  const hear = (chunk: Buffer): void => {
    state.heard += chunk.toString('utf8');
    state.listener();
  };
  child.stdout?.on('data', hear);
  child.stderr?.on('data', hear);
  child.stdin?.on('error', () => undefined);
  const over = new Promise<void>((resolve) => {
    const end = (): void => {
      state.isOver = true;
      resolve();
      state.listener();
    };
    child.once('error', end);
    child.once('close', end);
  });
  return { state, over };
}

/** Gives a shell one piece of work and waits for the sign behind it. */
function ask(child: ChildProcess, { state }: ReturnType<typeof listenTo>, count: number, commands: string) {
  const sign = new RegExp(`\n=${count} (\\d+)\n$`);
  state.heard = '';
  return new Promise<void>((resolve, reject) => {
    const look = (): void => {
      const [whole, code] = sign.exec(state.heard) ?? [];
      if (whole === undefined && !state.isOver) return;
      state.listener = () => undefined;
      if (code === '0') resolve();
      else reject(failure(whole === undefined ? `it has ended: ${state.heard}` : state.heard.slice(0, -whole.length)));
    };
    state.listener = look;
    look();
    child.stdin?.write(`(set -e\n${commands}\n) 2>&1 </dev/null; printf '\\n=%s %s\\n' ${count} $?\n`);
  });
}

/** Makes the ground of a run. @throws Error when the kernel refuses it */
export async function openGround(runId: string): Promise<Ground> {
  const child = startBound({ words, mark: `${runId}.ground`, stdio: ['pipe', 'pipe', 'pipe'] });
  const heard = listenTo(child);
  const turn = createTurns();
  let count = 0;
  const run = (commands: string): Promise<void> =>
    turn(() => {
      count += 1;
      return ask(child, heard, count, commands);
    });
  await run(prepareText);
  if (child.pid === undefined) throw failure('it did not start');
  return {
    pid: child.pid,
    run,
    close: async () => {
      child.kill('SIGKILL');
      await heard.over;
    },
  };
}

/** What every program of the host gets: nothing of the environment of whoever started the simulator. */
const plainEnvironment = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' } as const;

const limits = { timeout: 60_000, maxBuffer: 1_048_576 } as const;

/** Runs a program of this machine to its end and gives its output. @throws Error with what it wrote, when it fails */
export async function runProgram(path: string, args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(path, [...args], { ...limits, env: plainEnvironment, cwd: '/' });
  return stdout;
}

/** What a program that is bound to this process is started with. */
interface BoundProgram {
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
