import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, openSync, unlinkSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { Socket } from 'node:net';
import { join } from 'node:path';

const batchCount = 192;
const lowWater = 48;

const { O_RDONLY, O_WRONLY, O_NONBLOCK } = constants;

/**
 * Opens our end of a FIFO, and also the opposite end, so that the next process can open the FIFO without waiting.
 * Nothing blocks here, because the reader opens first and does not wait for a writer.
 */
function openFifo(path: string, isOursToRead: boolean) {
  const standIn = openSync(path, O_RDONLY | O_NONBLOCK);
  const ours = openSync(path, (isOursToRead ? O_RDONLY : O_WRONLY) | O_NONBLOCK);
  return { ours, standIns: [standIn, openSync(path, O_WRONLY)] };
}

/** Real pipes for one command's standard input, output and error. */
function openStdio(paths: readonly [string, string, string]) {
  const [input, output, errors] = [openFifo(paths[0], false), openFifo(paths[1], true), openFifo(paths[2], true)];
  return {
    /** Where the command opens its own ends, in the order 0, 1, 2. These ends block, as commands expect. */
    paths,
    stdin: new Socket({ fd: input.ours, readable: false, writable: true }),
    stdout: new Socket({ fd: output.ours, readable: true, writable: false }),
    stderr: new Socket({ fd: errors.ours, readable: true, writable: false }),
    /** Call this once the command has opened its ends or failed, or the end of its output is never detected. */
    handedOver: (): void => {
      for (const { standIns } of [input, output, errors]) for (const fd of standIns) closeSync(fd);
      for (const path of paths) unlinkSync(path);
    },
  };
}

/**
 * Creates pipes from FIFOs in `folder`. Node itself would give children socket pairs, on which `>/dev/stderr` and `[ -p
 * /dev/stdout ]` fail on Linux, although both work under sshd. One `mkfifo` creates a batch, so that a command needs no
 * additional process.
 */
export async function createPipeSupply(folder: string) {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const ready: string[] = [];
  let made = 0;
  let making: Promise<void> | undefined;

  const makeBatch = async (): Promise<void> => {
    const paths = Array.from({ length: batchCount }, () => join(folder, String(made++)));
    const child = spawn('mkfifo', ['-m', '600', ...paths], { stdio: 'ignore' });
    const [code] = await once(child, 'exit');
    if (code !== 0) throw new Error(`mkfifo in ${folder} exited with ${code}`);
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
    close: async (): Promise<void> => {
      await making?.catch(() => undefined);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A supply of pipes. Each pipe is used once, so that output of one command can never reach another command. */
export type PipeSupply = Awaited<ReturnType<typeof createPipeSupply>>;
