import { Listr, type ListrBaseClassOptions, ListrLogger, type ListrTask, ProcessOutput, Spinner } from 'listr2';
import type { Step } from '../../model/step.ts';
import type { RunListener } from '../run-events.ts';
import { lineAfter, linesOf, lineText, type RunLine, stateOf } from './run-lines.ts';

/** The terminal that a run is shown on. */
export interface RunScreen {
  readonly stream: NodeJS.WriteStream;
  readonly columns: number;
  readonly hasUnicode: boolean;
  readonly hasColor: boolean;
}

/** A view of a run that is going on. */
export interface RunView {
  readonly listen: RunListener;
  /** Shows one more line below the others; it stays. */
  readonly note: (text: string) => void;
  /** Draws the last state and leaves the terminal as it was; what has not ended by then was not done. */
  readonly end: () => Promise<void>;
}

/** How Listr lets a line be changed. */
interface Drawn {
  readonly rename: (text: string) => void;
  readonly skip: (text: string) => void;
  readonly settle: () => void;
  readonly fail: (error: Error) => void;
}

/** The lines below those of the nodes. */
interface Notes {
  readonly say: (text: string) => void;
  readonly settle: () => void;
}

interface Row {
  line: RunLine;
  /** Set as soon as Listr has begun with the line; events may come before. */
  drawn?: Drawn;
}

/**
 * Shows on a terminal one line per node and placement of the steps, with what runs and how far it is, rewritten in
 * place. For a terminal only; elsewhere the events themselves are printed.
 */
export function showRun(steps: readonly Step[], screen: RunScreen): RunView {
  const rows = linesOf(steps).map((line): Row => ({ line }));
  const widest = Math.max(0, ...rows.map(({ line }) => line.name.length));
  // Listr puts two blanks, the mark and one more before every title, and keeps two columns free.
  const text = (line: RunLine): string => lineText(line, widest, Math.max(20, screen.columns - 6));
  const begun: Promise<void>[] = [];
  const tasks = rows.map((row): ListrTask => {
    let begin: () => void = () => undefined;
    begun.push(
      new Promise((resolve) => {
        begin = resolve;
      }),
    );
    return {
      title: text(row.line),
      task: (_context, task) =>
        new Promise<void>((settle, fail) => {
          const rename = (title: string): void => {
            task.title = title;
          };
          row.drawn = { rename, skip: (message) => task.skip(message), settle, fail };
          draw(row, text(row.line));
          begin();
        }),
    };
  });
  let openNotes: (notes: Notes) => void = () => undefined;
  const opened = new Promise<Notes>((resolve) => {
    openNotes = resolve;
  });
  // A task without a title shows nothing but its output.
  const notes: ListrTask = {
    task: (_context, task) =>
      new Promise<void>((settle) => {
        const say = (more: string): void => {
          task.output = more;
        };
        openNotes({ say, settle });
      }),
    rendererOptions: { persistentOutput: true, bottomBar: Number.POSITIVE_INFINITY },
  };
  const drawing = new Listr([...tasks, notes], listrOptions(screen)).run().catch(() => undefined);
  return {
    listen: (event) => {
      for (const row of rows) {
        const line = lineAfter(row.line, event);
        if (line === row.line) continue;
        row.line = line;
        draw(row, text(line));
      }
    },
    note: (more) => void opened.then(({ say }) => say(more)),
    end: async () => {
      await Promise.all(begun);
      (await opened).settle();
      for (const { line, drawn } of rows) {
        const state = stateOf(line);
        if (state === 'waiting' || state === 'running') drawn?.skip(text(line));
        drawn?.settle();
      }
      await drawing;
    },
  };
}

function draw({ line, drawn }: Row, shown: string): void {
  drawn?.rename(shown);
  const state = stateOf(line);
  if (state === 'failed') drawn?.fail(new Error(shown));
  if (state === 'skipped') drawn?.skip(shown);
  if (state === 'done' || state === 'skipped') drawn?.settle();
}

/** Words beside the marks say the same, so colour and marks are only an ornament. */
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
    // Signals are the business of whoever started the run.
    registerSignalListeners: false,
    renderer: 'default',
    // It was asked for because this is a terminal; what Listr thinks of it does not matter.
    forceTTY: true,
    fallbackRendererCondition: false,
    rendererOptions: {
      logger: new ListrLogger({ useIcons: true, toStderr: [], processOutput: new ProcessOutput(stream, stream) }),
      ...(hasUnicode ? {} : { icon: asciiIcons, spinner: asciiSpinner() }),
      ...(hasColor ? {} : { color: plainColors }),
    },
  };
}
