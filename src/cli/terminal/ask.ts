import { createInterface } from 'node:readline';
import { diagnose } from '../../diagnostics/diagnose.ts';
import { FleetError } from '../../diagnostics/diagnostic.ts';
import type { Run } from '../verb.ts';

/**
 * Asks a yes-or-no question on the terminal; `--yes` answers it, and anything but y or yes is no.
 * @throws FleetError `cli/needs-yes` when nobody can be asked.
 */
export async function askYes(run: Run, question: string): Promise<boolean> {
  if (run.options.yes) return true;
  if (!run.console.canAsk) throw new FleetError([diagnose('cli/needs-yes', { detail: question })]);
  return askPerson(run, question);
}

/** The same; undefined without a terminal to ask at. */
export const askIfPossible = (run: Run, question: string): Promise<boolean | undefined> =>
  run.options.yes || run.console.canAsk ? askYes(run, question) : Promise.resolve(undefined);

/** Asks it on the terminal, whatever `--yes` says; the caller knows that somebody can be asked. */
export async function askPerson(run: Run, question: string): Promise<boolean> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  const stop = (): void => lines.close();
  run.signal.addEventListener('abort', stop, { once: true });
  try {
    return await new Promise<boolean>((resolve) => {
      lines.once('close', () => resolve(false));
      // readline takes Ctrl-C from the terminal for itself; it means the run here as everywhere.
      lines.once('SIGINT', () => process.kill(process.pid, 'SIGINT'));
      lines.question(`${question} [y/N] `, (answer) => resolve(/^y(es)?$/i.test(answer.trim())));
    });
  } finally {
    run.signal.removeEventListener('abort', stop);
    lines.close();
  }
}
