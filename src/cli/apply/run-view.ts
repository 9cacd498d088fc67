import type { RunEvent, RunListener } from '../../apply/run-events.ts';
import { type RunView as Drawing, showRun } from '../../apply/show/show-run.ts';
import type { Plan } from '../../engine/plan/plan.ts';
import type { StepId } from '../../model/step.ts';
import { hang } from '../../report/layout.ts';
import { endedStepLines, madeChangeLine, progressLine } from '../../report/run/apply-text.ts';
import { type ChangeWatch, watchChanges } from '../../report/run/change-watch.ts';
import type { Run } from '../verb/verb.ts';

/** How a run is shown while it goes on, plan after plan. */
export interface RunView {
  readonly listen: RunListener;
  /** A plan is about to be run. */
  readonly begin: (plan: Plan) => void;
  /** Something that happened between two plans. */
  readonly note: (text: string) => Promise<void>;
  /** Whatever is drawn is complete, and other text may follow. May be called at any time. */
  readonly end: () => Promise<void>;
}

/** On a terminal lines that are rewritten, elsewhere a line per event, with `--json` nothing. */
export function createRunView(run: Run): RunView {
  if (run.options.json) {
    return { listen: () => undefined, begin: () => undefined, note: async () => undefined, end: async () => undefined };
  }
  return run.console.isOutTty && run.console.canRewrite ? drawnView(run) : plainView(run);
}

function drawnView(run: Run): RunView {
  const { columns, hasUnicode, hasColor } = run.console;
  let drawing: Drawing | undefined;
  const end = async (): Promise<void> => {
    const ended = drawing;
    drawing = undefined;
    await ended?.end();
    run.console.drawing = undefined;
  };
  return {
    listen: (event) => {
      drawing?.listen(event);
      // Who holds a lease belongs to no line of a node.
      if (event.kind === 'lease' && (event.phase === 'waiting' || event.phase === 'expired'))
        tell(run, leaseText(event));
    },
    begin: ({ steps }) => {
      drawing = showRun(steps, { stream: process.stdout, columns, hasUnicode, hasColor });
      run.console.drawing = drawing.note;
    },
    note: async (text) => {
      await end();
      sayLine(run, text);
    },
    end,
  };
}

const tell = (run: Run, text: string): void => run.console.err(`${text}\n`);

/** Between the first two lines about how far one step has come; twice as long each time, while nothing moves. */
const progressEveryMs = 10_000;
const longestSilenceMs = 300_000;

/** What was last said of a step that runs. */
interface Told {
  readonly atMs: number;
  readonly line: string;
  readonly nextAfterMs: number;
}

/** What the lines of a run without a terminal depend on. */
interface LineState {
  watch: ChangeWatch;
  /** When the first step of each change began. */
  readonly beganAtMs: Map<string, number>;
  readonly told: Map<StepId, Told>;
}

function plainView(run: Run): RunView {
  const state: LineState = {
    watch: watchChanges({ changes: [], steps: [] }),
    beganAtMs: new Map(),
    told: new Map(),
  };
  return {
    listen: (event) => {
      for (const line of linesFor(event, state)) sayLine(run, line);
    },
    begin: (plan) => {
      state.watch = watchChanges(plan);
      state.beganAtMs.clear();
    },
    note: async (text) => sayLine(run, text),
    end: async () => undefined,
  };
}

/** A line with its time of day. */
function sayLine(run: Run, text: string): void {
  run.console.out(`${hang(`${clockText(new Date())} `, text, run.console.columns).join('\n')}\n`);
}

/** `06:12:40`, by the clock of this computer. */
const clockText = (now: Date): string => now.toTimeString().slice(0, 8);

function linesFor(event: RunEvent, { watch, beganAtMs, told }: LineState): readonly string[] {
  const nowMs = performance.now();
  switch (event.kind) {
    case 'step-ended': {
      told.delete(event.step.id);
      // That a Mac was restarted is told by its step.
      const isTold = event.rescues !== undefined || event.step.act.kind === 'reboot';
      const made = isTold ? [] : watch.ended(event);
      const lines = made.map((change) => madeChangeLine({ change, ms: nowMs - (beganAtMs.get(change.id) ?? nowMs) }));
      return [...lines, ...endedStepLines(event)];
    }
    case 'step-started':
      told.set(event.step.id, { atMs: nowMs, line: '', nextAfterMs: progressEveryMs });
      for (const id of event.step.changes) if (!beganAtMs.has(id)) beganAtMs.set(id, nowMs);
      return [];
    case 'step-progress': {
      const before = told.get(event.step);
      if (before === undefined || nowMs - before.atMs < before.nextAfterMs) return [];
      const line = progressLine({ node: event.node, id: event.step }, event);
      const isStill = line === before.line;
      const nextAfterMs = isStill ? Math.min(longestSilenceMs, 2 * before.nextAfterMs) : progressEveryMs;
      told.set(event.step, { atMs: nowMs, line, nextAfterMs });
      return [line];
    }
    case 'lease':
      return event.phase === 'taken' || event.phase === 'released' ? [] : [leaseText(event)];
    case 'reconnecting':
      return [`${event.node}: the connection broke off and is made again (attempt ${event.attempt})`];
    case 'rescue-started':
      return [`${event.group}: a part of it failed; what was begun is stopped`];
    case 'run-started':
    case 'plan-ended':
    case 'interrupted':
    case 'run-ended':
      return [];
  }
}

const phaseWords: Readonly<Record<string, string>> = {
  waiting: 'is held by another run, which is watched',
  expired: 'was held by a run that has ended or renews its lease no more; the lease is taken over',
  refused: 'is held by another run',
  lost: 'was taken away by another run; nothing more is begun',
};

function leaseText({ node, phase, holder }: Extract<RunEvent, { readonly kind: 'lease' }>): string {
  const who = holder === undefined ? '' : `: ${holder.verb} by ${holder.owner}, run ${holder.run}`;
  return `${node} ${phaseWords[phase] ?? phase}${who}`;
}
