import type { ChildProcess } from 'node:child_process';
import { createTurns } from '../turns.ts';
import { startBound } from './run-program.ts';

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
