import { appendFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { UseLimits } from '../apply/with-remote.ts';
import type { Run } from './verb.ts';
import { cannotWrite } from './write-file.ts';

/** The bounds that the command line sets for every use of a connection, with the record of what is sent. */
export function useLimits(run: Run): UseLimits {
  const { record, verbose, deadline } = run.options;
  const path = record === undefined ? undefined : resolve(run.folder, record);
  // A record that cannot be kept ends the run before anything is sent.
  if (path !== undefined) append(path, '');
  return {
    deadlineMs: deadline,
    signal: run.signal,
    onCommand: (node, command, script) => {
      // Written before the command leaves: what is not in the record was not sent.
      if (path !== undefined) append(path, `${JSON.stringify({ node, command, script })}\n`);
      const bytes = Buffer.byteLength(command) + Buffer.byteLength(script ?? '');
      if (verbose) run.console.err(`${node}: one command of ${bytes} bytes is sent\n`);
    },
  };
}

function append(path: string, text: string): void {
  try {
    appendFileSync(path, text, { mode: 0o600 });
  } catch (error) {
    throw cannotWrite(path, error);
  }
}
