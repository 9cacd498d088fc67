import { closeSync, constants, fchmodSync, fstatSync, openSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { UseLimits } from '../apply/reach/session.ts';
import { type RunTiming, realTiming, scaledTiming } from '../apply/run-timing.ts';
import { cannotWrite } from './files/write-file.ts';
import type { Run } from './verb.ts';

/** How fast the clocks of simulated Macs run unless `MESHWRIGHT_SIM_SCALE` says otherwise: twenty times. */
const usualScale = 0.05;

/** The times of a run: those for real Macs, or with `--sim` those for the clocks of the simulated ones. */
export function timingFor({ options, env }: Pick<Run, 'options' | 'env'>): RunTiming {
  if (!options.sim) return realTiming;
  const scale = Number(env['MESHWRIGHT_SIM_SCALE']);
  return scaledTiming(scale > 0 && scale <= 1 ? scale : usualScale);
}

/** The bounds that the command line sets for every use of a connection, with the record of what is sent and the log. */
export function useLimits(run: Run): UseLimits {
  const { record, verbose, deadline } = run.options;
  const path = record === undefined ? undefined : resolve(run.folder, record);
  // A record that cannot be kept ends the run before anything is sent.
  if (path !== undefined) append(path, '');
  return {
    deadlineMs: deadline,
    signal: run.signal,
    onRemote: (event) => {
      run.log?.write(event);
      if (event.kind !== 'sent') return;
      const { node, command, script } = event;
      // Written before the command leaves: what is not in the record was not sent.
      if (path !== undefined) append(path, `${JSON.stringify({ node, command, script })}\n`);
      const bytes = Buffer.byteLength(command) + Buffer.byteLength(script ?? '');
      if (verbose) run.console.err(`${node}: one command of ${bytes} bytes is sent\n`);
    },
  };
}

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_WRONLY } = constants;

/** Links of the system to the streams of this process. In a folder of several users any other one may lead anywhere. */
const streams = /^\/dev\/(?:stdout|stderr|fd\/\d+)$/;

/** Appends to a file for its owner alone. */
function append(path: string, text: string): void {
  const follow = streams.test(path) ? 0 : O_NOFOLLOW;
  try {
    const file = openSync(path, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK | follow, 0o600);
    try {
      const found = fstatSync(file);
      if (found.isFile() && (found.mode & 0o077) !== 0) fchmodSync(file, 0o600);
      writeFileSync(file, text);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    throw cannotWrite(path, error);
  }
}
