import { appendFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { UseLimits } from '../apply/with-remote.ts';
import type { Run } from './verb.ts';

/** The bounds that the command line sets for every use of a connection, with the record of what is sent. */
export function useLimits(run: Run): UseLimits {
  const { record, verbose, deadline } = run.options;
  const path = record === undefined ? undefined : resolve(run.folder, record);
  return {
    deadlineMs: deadline,
    signal: run.signal,
    onCommand: (node, command) => {
      // Written before the command leaves: what is not in the record was not sent.
      if (path !== undefined) appendFileSync(path, `${JSON.stringify({ node, command })}\n`, { mode: 0o600 });
      if (verbose) run.console.err(`${node}: one command of ${Buffer.byteLength(command)} bytes is sent\n`);
    },
  };
}
