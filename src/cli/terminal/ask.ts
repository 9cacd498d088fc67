import { createInterface } from 'node:readline';
import { failure } from '../../diagnostics/diagnose.ts';
import type { Run } from '../verb.ts';
import { endedOnAbort } from './signals.ts';

/**
 * Asks a yes-or-no question at the terminal. `--yes` answers it; anything but y or yes means no.
 * @throws FleetError `cli/needs-yes` if prompting is impossible
 */
export async function askYes(run: Run, question: string): Promise<boolean> {
  if (run.options.yes) return true;
  if (!run.console.canAsk) throw failure('cli/needs-yes', { detail: question });
  return askPerson(run, question);
}

/** Same as {@link askYes}, but returns undefined if prompting is impossible. */
export const askIfPossible = (run: Run, question: string): Promise<boolean | undefined> =>
  run.options.yes || run.console.canAsk ? askYes(run, question) : Promise.resolve(undefined);

/** Asks at the terminal even with `--yes`. The caller must have checked that there is a terminal. */
export function askPerson(run: Run, question: string): Promise<boolean> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  const answer = new Promise<boolean>((resolve) => {
    lines.once('close', () => resolve(false));
    // readline intercepts Ctrl-C, so the signal is sent to this process.
    lines.once('SIGINT', () => process.kill(process.pid, 'SIGINT'));
    lines.question(`${question} [y/N] `, (typed) => resolve(/^y(es)?$/i.test(typed.trim())));
  });
  return endedOnAbort(
    run.signal,
    () => lines.close(),
    () => answer,
  );
}
