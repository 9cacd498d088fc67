import type { RunEvent } from '../../apply/run-events.ts';
import type { Plan } from '../../engine/plan/plan.ts';
import { hang } from '../../report/page.ts';
import type { Run } from '../verb.ts';
import { createRunLines } from './run-lines.ts';
import { createStillRunning } from './still-running.ts';

/** Shows the progress of a run, plan by plan. */
export type RunView = ReturnType<typeof plainView>;

/**
 * A view that prints one line per event, or nothing with `--json`. While steps run and nothing is printed, it reports
 * them on stderr, so that a long step does not look like a hang.
 */
export function plainView(run: Run) {
  const lines = createRunLines();
  const still = createStillRunning();
  const say = (all: readonly string[]): void => {
    for (const line of all) sayLine(run, line);
    if (all.length > 0 && !run.options.json) still.printed(performance.now());
  };
  const tick = (): void => {
    const nowMs = performance.now();
    say(lines.transferLines(nowMs));
    const line = still.lineAt(nowMs);
    if (line !== undefined) run.console.err(`${hang('', line, run.console.columns).join('\n')}\n`);
  };
  // Without events, nothing else would report a step or a transfer that has stopped.
  let timer: NodeJS.Timeout | undefined;
  return {
    listen: (event: RunEvent): void => {
      const nowMs = performance.now();
      still.listen(event, nowMs);
      say(lines.linesFor(event, nowMs));
    },
    begin: (plan: Plan): void => {
      lines.begin(plan);
      clearInterval(timer);
      timer = setInterval(tick, 1_000);
      timer.unref();
    },
    /** Shows an event between two plans. */
    note: async (text: string): Promise<void> => sayLine(run, text),
    /** Finishes the drawing, so that other text can follow. Can be called at any time. */
    end: async (): Promise<void> => clearInterval(timer),
  };
}

/** Prints a line with the time of day, or nothing with `--json`. */
export function sayLine(run: Run, text: string): void {
  if (run.options.json) return;
  run.console.out(`${hang(`${clockText(new Date())} `, text, run.console.columns).join('\n')}\n`);
}

/** `06:12:40`. */
const clockText = (now: Date): string => now.toTimeString().slice(0, 8);
