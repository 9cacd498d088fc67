import { Listr, type ListrBaseClassOptions, ListrLogger, type ListrTask, ProcessOutput, Spinner } from 'listr2';
import { clip, columnsOf } from '../diagnostics/cells.ts';
import { escapeText } from '../diagnostics/escape.ts';
import { given } from '../model/given.ts';
import { tally } from '../model/lists.ts';
import type { NodeName } from '../model/node.ts';
import type { Step, StepId, StepOutcome } from '../model/step.ts';
import { diskText, durationText } from '../model/text/units.ts';
import { isDone } from './execute.ts';
import { transferText } from './progress/transfer-text.ts';
import {
  nodeProgress,
  type TransferProgress,
  transfersAfter,
  transfersIn,
  wholeProgress,
} from './progress/transfers.ts';
import type { RunEvent } from './run-events.ts';

interface RunScreen {
  readonly stream: NodeJS.WriteStream;
  readonly columns: number;
  readonly hasUnicode: boolean;
  readonly hasColor: boolean;
}

export type RunDrawing = ReturnType<typeof showRun>;

interface Drawn {
  readonly task: Parameters<ListrTask['task']>[1];
  readonly settle: () => void;
  readonly fail: (error: Error) => void;
}

interface Row {
  line: RunLine;
  /** Its progress while it transfers bytes. */
  progress?: TransferProgress | undefined;
  /** Set when Listr shows the line; events can arrive earlier. */
  drawn?: Drawn;
}

/** The time between two updates of the rates, in ms. */
const refreshMs = 1_000;
const totalName = 'total';

function deferred<T>() {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

/** Shows one line per node with its running step and progress, updated in place. Only for terminals. */
export function showRun(steps: readonly Step[], screen: RunScreen) {
  const rows = linesOf(steps).map((line): Row => ({ line }));
  let transfers = transfersIn(steps);
  const hasTotal = wholeProgress(transfers, 0) !== undefined;
  const names = [...rows.map(({ line }) => line.name), ...(hasTotal ? [totalName] : [])];
  const widest = Math.max(0, ...names.map((name) => name.length));
  // Before each title, Listr prints two blanks, the mark and a third blank; it also leaves two columns free.
  const columns = Math.max(20, screen.columns - 6);
  const text = ({ line, progress }: Row): string => lineText(line, widest, columns, progress);
  const drawnRows = rows.map((row) => rowTask(row, text));
  const total = hasTotal ? totalRow(widest, columns) : undefined;
  const { promise: opened, resolve: open } = deferred<Omit<Drawn, 'fail'>>();
  // A task without a title shows only its output.
  const notes: ListrTask = {
    task: (_context, task) => new Promise<void>((settle) => open({ task, settle })),
    rendererOptions: { persistentOutput: true, bottomBar: Number.POSITIVE_INFINITY },
  };
  const all = [...drawnRows.map(({ task }) => task), ...(total === undefined ? [] : [total.task]), notes];
  const drawing = new Listr(all, listrOptions(screen)).run().catch(() => undefined);
  const refresh = (changed?: Row): void => {
    const nowMs = performance.now();
    for (const row of rows) {
      const progress = nodeProgress(transfers, row.line.name as NodeName, nowMs);
      const isRunning = progress?.isRunning === true;
      if (row !== changed && !isRunning && row.progress?.isRunning !== true) continue;
      row.progress = progress;
      draw(row, text(row));
    }
    total?.show(wholeProgress(transfers, nowMs));
  };
  const timer = setInterval(refresh, refreshMs);
  timer.unref();
  return {
    listen: (event: RunEvent): void => {
      transfers = transfersAfter(transfers, event, performance.now());
      for (const row of rows) {
        const line = lineAfter(row.line, event);
        if (line === row.line) continue;
        row.line = line;
        refresh(row);
      }
    },
    /** Adds a permanent line below the others. */
    note: (more: string): void =>
      void opened.then(({ task }) => {
        task.output = more;
      }),
    /** Draws the final state and restores the terminal. Unfinished lines are shown as skipped. */
    end: async (): Promise<void> => {
      clearInterval(timer);
      await Promise.all(drawnRows.map(({ begun }) => begun));
      (await opened).settle();
      for (const { line, drawn, progress } of rows) {
        const state = stateOf(line);
        if (state === 'waiting' || state === 'running') drawn?.task.skip(text({ line, progress }));
        drawn?.settle();
      }
      await total?.end();
      await drawing;
    },
  };
}

/** The Listr task of a node's line; `begun` resolves when Listr shows it. */
function rowTask(row: Row, text: (row: Row) => string) {
  const { promise: begun, resolve } = deferred<void>();
  const task: ListrTask = {
    title: text(row),
    task: (_context, drawn) =>
      new Promise<void>((settle, fail) => {
        row.drawn = { task: drawn, settle, fail };
        draw(row, text(row));
        resolve();
      }),
  };
  return { begun, task };
}

function totalRow(widest: number, columns: number) {
  const { promise: begun, resolve: begin } = deferred<Omit<Drawn, 'fail'>>();
  let shown: TransferProgress | undefined;
  const name = `${totalName.padEnd(widest)}  `;
  const text = (): string =>
    clip(shown === undefined ? name : name + transferText(shown, columns - name.length), columns);
  return {
    task: {
      title: text(),
      task: (_context, task) =>
        new Promise<void>((settle) => {
          begin({ task, settle });
        }),
    } satisfies ListrTask,
    show: (progress: TransferProgress | undefined): void => {
      shown = progress;
      void begun.then(({ task }) => {
        task.title = text();
      });
    },
    /** A transfer that is not complete is shown as skipped. */
    end: async (): Promise<void> => {
      const { task, settle } = await begun;
      if (shown !== undefined && shown.doneBytes < shown.totalBytes) task.skip(text());
      settle();
    },
  };
}

function draw({ line, drawn }: Row, shown: string): void {
  if (drawn === undefined) return;
  drawn.task.title = shown;
  const state = stateOf(line);
  if (state === 'failed') drawn.fail(new Error(shown));
  if (state === 'skipped') drawn.task.skip(shown);
  if (state === 'done' || state === 'skipped') drawn.settle();
}

/** Colors and marks only repeat the adjacent words. */
const asciiIcons = {
  SKIPPED_WITH_COLLAPSE: '-',
  SKIPPED_WITHOUT_COLLAPSE: '-',
  OUTPUT_WITH_BOTTOMBAR: '>',
  PENDING: '~',
  COMPLETED: '+',
  FAILED: 'x',
  WAITING: '.',
  PAUSED: '.',
} as const;

const plain = (text?: string): string => text ?? '';

const plainColors = {
  SKIPPED_WITH_COLLAPSE: plain,
  SKIPPED_WITHOUT_COLLAPSE: plain,
  PENDING: plain,
  COMPLETED: plain,
  FAILED: plain,
  WAITING: plain,
  PAUSED: plain,
} as const;

function asciiSpinner(): Spinner {
  const spinner = new Spinner();
  Reflect.set(spinner, 'spinner', ['|', '/', '-', '\\']);
  return spinner;
}

function listrOptions({ stream, hasUnicode, hasColor }: RunScreen): ListrBaseClassOptions {
  return {
    concurrent: true,
    exitOnError: false,
    // The caller handles all signals.
    registerSignalListeners: false,
    renderer: 'default',
    // The caller has already checked for a terminal, so this overrides Listr's own check.
    forceTTY: true,
    fallbackRendererCondition: false,
    rendererOptions: {
      logger: new ListrLogger({ useIcons: true, toStderr: [], processOutput: new ProcessOutput(stream, stream) }),
      ...(hasUnicode ? {} : { icon: asciiIcons, spinner: asciiSpinner() }),
      ...(hasColor ? {} : { color: plainColors }),
    },
  };
}

type Progress = Extract<RunEvent, { kind: 'step-progress' }>;

export interface RunLine {
  readonly name: string;
  readonly steps: readonly Step[];
  readonly running: ReadonlyMap<StepId, { readonly step: Step; readonly progress?: Progress }>;
  readonly ended: ReadonlyMap<StepId, { readonly step: Step; readonly outcome: StepOutcome; readonly code?: string }>;
  /** The total duration of its steps. */
  readonly ms: number;
  /** True after a signal: running steps finish, and no new ones start. */
  readonly isStopping: boolean;
}

type LineState = 'waiting' | 'running' | 'done' | 'failed' | 'skipped';

/** One line per node, in step order, without manual steps. */
export function linesOf(steps: readonly Step[]): readonly RunLine[] {
  const ours = steps.filter(({ act }) => act.kind !== 'hands');
  const names = [...new Set(ours.map(({ node }) => node))];
  return names.map((name) => ({
    name,
    steps: ours.filter((step) => step.node === name),
    running: new Map(),
    ended: new Map(),
    ms: 0,
    isStopping: false,
  }));
}

/** The line after an event; the same object if the event is not about this line. */
export function lineAfter(line: RunLine, event: RunEvent): RunLine {
  switch (event.kind) {
    case 'step-started':
      if (event.step.node !== line.name || event.step.act.kind === 'hands') return line;
      return { ...line, running: new Map([...line.running, [event.step.id, { step: event.step }]]) };
    case 'step-progress': {
      const now = line.running.get(event.step);
      return now ? { ...line, running: new Map([...line.running, [event.step, { ...now, progress: event }]]) } : line;
    }
    case 'step-ended': {
      const { step, outcome, diagnostics, ms } = event;
      if (step.node !== line.name || step.act.kind === 'hands') return line;
      const code = diagnostics[0]?.code;
      const end = { step, outcome, ...given({ code }) };
      const running = new Map([...line.running].filter(([id]) => id !== step.id));
      return { ...line, running, ended: new Map([...line.ended, [step.id, end]]), ms: line.ms + ms };
    }
    case 'interrupted':
      return { ...line, isStopping: true };
    default:
      return line;
  }
}

/** A line has failed if one of its steps failed and none of its steps is running. */
export function stateOf({ steps, running, ended }: RunLine): LineState {
  if (running.size > 0) return 'running';
  const ends = [...ended.values()];
  const isWhole = steps.every(({ id }) => ended.has(id));
  if (!isWhole) return ends.length === 0 ? 'waiting' : 'running';
  if (ends.some(isBad)) return 'failed';
  return ends.every(isDone) ? 'done' : 'skipped';
}

const isBad = ({ outcome }: { readonly outcome: StepOutcome }): boolean =>
  outcome === 'failed' || outcome === 'unknown';

/** The text of a line, limited to `columns`; `widest` is the width of the longest name. */
export function lineText(line: RunLine, widest: number, columns: number, progress?: TransferProgress): string {
  const name = line.name.padEnd(widest);
  const state = stateOf(line);
  if (progress?.isRunning === true && state === 'running') {
    const stopping = line.isStopping ? 'stopping: ' : '';
    return clip(`${name}  ${stopping}${transferText(progress, columns - widest - 2 - stopping.length)}`, columns);
  }
  if (state !== 'done') return clip(`${name}  ${middle(line, state)}`, columns);
  const time = durationText(line.ms);
  const text = clip(`${name}  ${summary(line)}`, columns - time.length - 2);
  return `${text}${' '.repeat(Math.max(2, columns - columnsOf(text) - time.length))}${time}`;
}

function middle(line: RunLine, state: LineState): string {
  const [running] = line.running.values();
  const stopping = line.isStopping ? 'stopping: ' : '';
  if (running) {
    return [stopping + kindOf(running.step), progressText(running.progress)].filter((one) => one !== '').join('  ');
  }
  const bad = [...line.ended.values()].find(isBad);
  if (bad) return `${kindOf(bad.step)} ${bad.outcome === 'unknown' ? 'result unknown' : 'failed'}${code(bad.code)}`;
  const done = [...line.ended.values()].filter(isDone).length;
  const all = line.steps.length;
  if (state === 'skipped' || line.isStopping) {
    return done === 0 ? 'not started' : `${summary(line)}; ${done} of ${all} steps done`;
  }
  const left = line.steps.length - line.ended.size;
  return `${left} ${left === 1 ? 'step waiting' : 'steps waiting'}`;
}

const code = (text: string | undefined): string => (text === undefined ? '' : ` (${text})`);

const kindOf = ({ resource, act }: Step): string => (act.kind === 'gate' ? `${resource}: waiting` : resource);

/** The progress, such as `56 %  412 GB of 735 GB`, or what the step is waiting for. */
function progressText(progress: Pick<Progress, 'doneBytes' | 'totalBytes' | 'text'> | undefined): string {
  const { doneBytes, totalBytes, text } = progress ?? {};
  if (totalBytes === undefined || totalBytes <= 0) return escapeText(text ?? '');
  const percent = Math.floor((100 * (doneBytes ?? 0)) / totalBytes);
  return `${percent} %  ${diskText(doneBytes ?? 0)} of ${diskText(totalBytes)}`;
}

/** The number of changes by resource: `power, 3 link-address`. */
function summary({ ended }: RunLine): string {
  const changed = [...ended.values()].filter(({ outcome }) => outcome === 'changed');
  const counts = tally(changed.map(({ step }) => step.resource));
  return counts.map(([kind, count]) => (count === 1 ? kind : `${count} ${kind}`)).join(', ') || 'unchanged';
}
