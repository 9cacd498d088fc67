import { stderr, stdin, stdout } from 'node:process';

/** Where a verb writes and what it may assume about the reader; tests give their own. */
export interface Console {
  /** The answer: text for people, or one JSON document. */
  out(text: string): void;
  /** Everything else: diagnostics, progress, notes. */
  err(text: string): void;
  readonly isOutTty: boolean;
  readonly isErrTty: boolean;
  /** Both ends are a terminal: only then may a verb ask. */
  readonly canAsk: boolean;
  /** Terminal width in columns; 80 when it is not a terminal. */
  readonly columns: number;
  readonly hasColor: boolean;
  readonly hasUnicode: boolean;
}

const ignoreClosedPipe = (error: NodeJS.ErrnoException): void => {
  // `| head` closes our output early; that is the reader's right, not a failure of ours.
  if (error.code !== 'EPIPE') throw error;
};

/** The console of this process. `NO_COLOR`, `TERM=dumb` and `--no-color` switch colour off. */
export function processConsole(env: NodeJS.ProcessEnv, noColor: boolean): Console {
  stdout.on('error', ignoreClosedPipe);
  stderr.on('error', ignoreClosedPipe);
  const isDumb = env['TERM'] === 'dumb';
  const locale = env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'] || '';
  return {
    out: (text) => void stdout.write(text),
    err: (text) => void stderr.write(text),
    isOutTty: stdout.isTTY === true,
    isErrTty: stderr.isTTY === true,
    canAsk: stdin.isTTY === true && stderr.isTTY === true,
    columns: stdout.isTTY === true && stdout.columns > 0 ? stdout.columns : 80,
    hasColor: stdout.isTTY === true && !noColor && !isDumb && !env['NO_COLOR'],
    hasUnicode: /utf-?8/i.test(locale) && !isDumb,
  };
}
