import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, openSync, unlinkSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { Socket } from 'node:net';
import { join } from 'node:path';

const batchCount = 48;
const lowWater = 12;

/** Standard input, output and error of one command, each a real pipe. */
export interface StdioPipes {
  /** Descriptors for the child, in the order 0, 1, 2; blocking, as a command expects them. */
  readonly child: readonly [number, number, number];
  readonly stdin: Socket;
  readonly stdout: Socket;
  readonly stderr: Socket;
  /** To be called once the child has them (or never will), or the end of its output is never seen. */
  readonly closeChildEnds: () => void;
}

/** Hands out pipes; each is used once, so that output of one command can never reach another. */
export interface PipeSupply {
  readonly take: () => Promise<StdioPipes>;
  readonly close: () => Promise<void>;
}

const { O_RDONLY, O_WRONLY, O_NONBLOCK } = constants;

/** Opens both ends without blocking: the waiting side first, non-blocking, then the child's own. */
function openToChild(path: string): { readonly child: number; readonly ours: number } {
  const first = openSync(path, O_RDONLY | O_NONBLOCK);
  const ours = openSync(path, O_WRONLY | O_NONBLOCK);
  const child = openSync(path, O_RDONLY);
  closeSync(first);
  unlinkSync(path);
  return { child, ours };
}

function openFromChild(path: string): { readonly child: number; readonly ours: number } {
  const ours = openSync(path, O_RDONLY | O_NONBLOCK);
  const child = openSync(path, O_WRONLY);
  unlinkSync(path);
  return { child, ours };
}

const reader = (fd: number): Socket => new Socket({ fd, readable: true, writable: false });

function openStdio(paths: readonly [string, string, string]): StdioPipes {
  const input = openToChild(paths[0]);
  const output = openFromChild(paths[1]);
  const errors = openFromChild(paths[2]);
  const child = [input.child, output.child, errors.child] as const;
  return {
    child,
    stdin: new Socket({ fd: input.ours, readable: false, writable: true }),
    stdout: reader(output.ours),
    stderr: reader(errors.ours),
    closeChildEnds: () => {
      for (const fd of child) closeSync(fd);
    },
  };
}

/**
 * Makes pipes out of FIFOs in `folder`. Node itself gives children socket pairs, on which `>/dev/stderr` and
 * `[ -p /dev/stdout ]` fail on Linux although they are fine under sshd. One `mkfifo` makes a batch, so that a command
 * costs no extra process.
 */
export async function createPipeSupply(folder: string): Promise<PipeSupply> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const ready: string[] = [];
  let made = 0;
  let making: Promise<void> | undefined;

  const makeBatch = async (): Promise<void> => {
    const paths = Array.from({ length: batchCount }, () => join(folder, String(made++)));
    const child = spawn('mkfifo', ['-m', '600', ...paths], { stdio: 'ignore' });
    const [code] = await once(child, 'exit');
    if (code !== 0) throw new Error(`mkfifo in ${folder} ended with ${code}`);
    ready.push(...paths);
  };
  const refill = (): Promise<void> => {
    making ??= makeBatch().finally(() => {
      making = undefined;
    });
    return making;
  };
  const next = async (): Promise<string> => {
    for (;;) {
      const path = ready.shift();
      if (path !== undefined) return path;
      await refill();
    }
  };
  await refill();
  return {
    take: async () => {
      const paths = [await next(), await next(), await next()] as const;
      if (ready.length < lowWater) refill().catch(() => undefined);
      return openStdio(paths);
    },
    close: async () => {
      await making?.catch(() => undefined);
      await rm(folder, { recursive: true, force: true });
    },
  };
}
