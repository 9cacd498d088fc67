import { escapeText } from '../../diagnostics/escape.ts';
import { durationText } from '../../model/text/units.ts';
import type { Console } from './console.ts';

const firstWordAfterMs = 2_000;

/**
 * Does some work, and says what it waits for once it takes longer than two seconds, on the error stream: on a terminal one
 * line that is rewritten every second, elsewhere one line every ten seconds. `what` is a present participle: `observing`;
 * `work` says of each of the awaited things that it is done.
 */
export async function withProgress<T>(
  console: Console,
  [what, awaited]: readonly [what: string, awaited: readonly { readonly name: string }[]],
  work: (done: (name: string) => void) => Promise<T>,
): Promise<T> {
  const waiting = new Set(awaited.map(({ name }) => name));
  const startedAtMs = performance.now();
  let isShown = false;
  const say = (): void => {
    if (waiting.size === 0) return;
    const seconds = Math.round((performance.now() - startedAtMs) / 1_000);
    const line = progressLine(what, {
      total: awaited.length,
      waiting: [...waiting],
      seconds,
      columns: console.columns,
    });
    console.err(console.canRewrite ? `\r\u001b[K${line}` : `${line}\n`);
    isShown = true;
  };
  let every: NodeJS.Timeout | undefined;
  const first = setTimeout(() => {
    say();
    every = setInterval(say, console.canRewrite ? 1_000 : 10_000);
    every.unref();
  }, firstWordAfterMs);
  first.unref();
  try {
    return await work((name) => void waiting.delete(name));
  } finally {
    clearTimeout(first);
    clearInterval(every);
    if (isShown && console.canRewrite) console.err('\r\u001b[K');
  }
}

/** Says what a wait is for and how long it may still take. */
interface WaitLine {
  readonly show: (missing: readonly string[], leftMs: number) => void;
  /** Leaves the terminal as it was. May be called at any time. */
  readonly end: () => void;
}

/** One line on the error stream: rewritten at each look on a terminal, elsewhere repeated every ten seconds. */
export function showWait(console: Console): WaitLine {
  let shownAtMs: number | undefined;
  return {
    show: (missing, leftMs) => {
      const nowMs = performance.now();
      if (!console.canRewrite && shownAtMs !== undefined && nowMs - shownAtMs < 10_000) return;
      shownAtMs = nowMs;
      const text = cut(
        `${durationText(Math.max(0, leftMs))} left: waiting for ${escapeText(missing.join(', '))}`,
        console.columns,
      );
      console.err(console.canRewrite ? `\r\u001b[K${text}` : `${text}\n`);
    },
    end: () => {
      if (shownAtMs !== undefined && console.canRewrite) console.err('\r\u001b[K');
      shownAtMs = undefined;
    },
  };
}

const cut = (text: string, columns: number): string =>
  text.length < columns ? text : `${text.slice(0, Math.max(0, columns - 4))}...`;

/** The text of one progress line, cut to the width of the terminal. */
export function progressLine(
  what: string,
  at: {
    readonly total: number;
    readonly waiting: readonly string[];
    readonly seconds: number;
    readonly columns: number;
  },
): string {
  const done = at.total - at.waiting.length;
  const text = `${what}: ${done} of ${at.total} done after ${at.seconds} s, waiting for ${at.waiting.join(', ')}`;
  return cut(text, at.columns);
}
