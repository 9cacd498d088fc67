import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { KillOrder, KillReport } from './order.ts';

/** A controller that was started in a separate process. */
export interface RunningController {
  /** Kills it immediately; resolves after its end. */
  readonly kill: () => Promise<void>;
  readonly ended: Promise<ControllerEnd>;
}

/** The end of a controller: a report, or a signal without a report. */
export interface ControllerEnd {
  readonly signal: string | null;
  readonly report?: KillReport;
  readonly stderr: string;
}

/**
 * Starts the program of {@link buildController} with an order, which is written next to its journal; `within` is a
 * command that runs it.
 */
export async function startController(
  program: string,
  order: KillOrder,
  within: readonly string[] = [],
): Promise<RunningController> {
  const file = join(order.state, `${order.runId}.order.json`);
  await writeFile(file, JSON.stringify(order));
  const [command = '', ...words] = [...within, process.execPath, program, file];
  const child = spawn(command, words, { stdio: ['ignore', 'pipe', 'pipe'] });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const ended = once(child, 'close').then(([, signal]): ControllerEnd => {
    const report: KillReport | undefined = stdout === '' ? undefined : JSON.parse(stdout);
    return { signal, stderr, ...(report === undefined ? {} : { report }) };
  });
  return {
    kill: async () => {
      child.kill('SIGKILL');
      await ended;
    },
    ended,
  };
}
