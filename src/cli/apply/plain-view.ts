import type { RunEvent } from '../../apply/run-events.ts';
import type { Plan } from '../../engine/plan/plan.ts';
import type { Step, StepId, StepProgress } from '../../model/step.ts';
import { durationText } from '../../model/text/units.ts';
import { hang } from '../../report/page.ts';
import { progressLine } from '../../report/run/apply-text.ts';
import type { Run } from '../verb.ts';
import { createRunLines } from './run-lines.ts';

/** Shows the progress of a run, plan by plan. */
export type RunView = ReturnType<typeof plainView>;

/** Prints one line per event, or nothing with `--json`; reports running steps on stderr if nothing else is printed. */
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
  const time = new Date().toTimeString().slice(0, 8);
  run.console.out(`${hang(`${time} `, text, run.console.columns).join('\n')}\n`);
}

/** Checked every second, so that no silence is longer than five seconds. */
const longestSilenceMs = 4_000;
/** The number of steps that one line names. */
const named = 3;

interface Running {
  readonly sinceMs: number;
  readonly step: Pick<Step, 'node' | 'id'>;
  readonly progress?: StepProgress;
}

/** The lines of a run without a terminal that report running steps while nothing else is printed. */
function createStillRunning() {
  const running = new Map<StepId, Running>();
  /** Nodes whose lease another run has, with the time since when. */
  const leases = new Map<string, number>();
  let printedAtMs = 0;

  function listen(event: RunEvent, nowMs: number): void {
    if (event.kind === 'step-started') running.set(event.step.id, { sinceMs: nowMs, step: event.step });
    if (event.kind === 'step-ended') running.delete(event.step.id);
    if (event.kind === 'step-progress') {
      const one = running.get(event.step);
      if (one !== undefined) running.set(event.step, { ...one, progress: event });
    }
    if (event.kind !== 'lease') return;
    if (event.state === 'waiting') leases.set(event.node, leases.get(event.node) ?? nowMs);
    else leases.delete(event.node);
  }

  /** What lasts, longest first. A transfer that waits for its hours has been reported with their time. */
  const lasting = (): readonly (readonly [text: string, sinceMs: number])[] =>
    [
      ...[...leases].map(([node, sinceMs]) => [`waiting for the lease of ${node}`, sinceMs] as const),
      ...[...running.values()]
        .filter(({ progress }) => progress?.until === undefined)
        .map(({ step, progress, sinceMs }) => [progressLine(step, progress ?? {}), sinceMs] as const),
    ].sort(([, one], [, other]) => one - other);

  return {
    listen,
    /** Must be called for every other line that the run prints. */
    printed: (nowMs: number): void => {
      printedAtMs = nowMs;
    },
    /** The line that is due now, if any. */
    lineAt: (nowMs: number): string | undefined => {
      const all = lasting();
      const [first] = all;
      if (first === undefined || nowMs - Math.max(printedAtMs, first[1]) < longestSilenceMs) return undefined;
      printedAtMs = nowMs;
      const texts = all.slice(0, named).map(([text, sinceMs]) => `${text} (${durationText(nowMs - sinceMs)})`);
      const more = all.length > named ? [`${all.length - named} more`] : [];
      return `still running: ${[...texts, ...more].join('; ')}`;
    },
  };
}
