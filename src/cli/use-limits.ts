import { closeSync, constants, fchmodSync, fstatSync, openSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { UseLimits } from '../apply/reach/session.ts';
import { type RunTiming, realTiming, scaledTiming } from '../apply/run-timing.ts';
import { writingTo } from './files/write-file.ts';
import type { Run } from './verb.ts';

/** The default of `MESHWRIGHT_SIM_SCALE`: simulated Macs' clocks run twenty times as fast. */
const usualScale = 0.05;

/** The time limits of a run; with `--sim`, they are scaled to the simulated Macs' clocks. */
export function timingFor({ options, env }: Pick<Run, 'options' | 'env'>): RunTiming {
  if (!options.sim) return realTiming;
  const scale = Number(env['MESHWRIGHT_SIM_SCALE']);
  return scaledTiming(scale > 0 && scale <= 1 ? scale : usualScale);
}

/** The command line's limits for every connection, and the hooks of `--record`, `--log` and `--verbose`. */
export function useLimits(run: Run): UseLimits {
  const { record, verbose, deadline } = run.options;
  const path = record === undefined ? undefined : resolve(run.folder, record);
  // If the file cannot be written, fails before anything is sent.
  if (path !== undefined) append(path, '');
  return {
    deadlineMs: deadline,
    signal: run.signal,
    onRemote: (event) => {
      run.log?.write(event);
      if (event.kind !== 'sent') return;
      const { node, command, script } = event;
      // Written before the command is sent, so that nothing is sent without a record.
      if (path !== undefined) append(path, run.secrets.hideIn(`${JSON.stringify({ node, command, script })}\n`));
      const bytes = Buffer.byteLength(command) + Buffer.byteLength(script ?? '');
      if (verbose) run.console.err(`${node}: sending a command of ${bytes} bytes\n`);
    },
  };
}

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_WRONLY } = constants;

/** Links to this process's streams. Other links are not followed, because another user may have created them. */
const streams = /^\/dev\/(?:stdout|stderr|fd\/\d+)$/;

/** Appends to a file that only its owner can read. */
function append(path: string, text: string): void {
  const follow = streams.test(path) ? 0 : O_NOFOLLOW;
  writingTo(path, () => {
    const file = openSync(path, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK | follow, 0o600);
    try {
      const found = fstatSync(file);
      if (found.isFile() && (found.mode & 0o077) !== 0) fchmodSync(file, 0o600);
      writeFileSync(file, text);
    } finally {
      closeSync(file);
    }
  });
}
