import type { Console } from '../../../src/cli/terminal/console.ts';
import type { Run } from '../../../src/cli/verb.ts';
import { readSecrets } from '../../../src/diagnostics/hide-secrets.ts';

/** A run and its output. */
export interface FakeRun {
  readonly run: Run;
  readonly out: () => string;
  readonly err: () => string;
}

/** A run that collects its output, without a terminal. */
export function fakeRun(changes: Partial<Run> = {}): FakeRun {
  let out = '';
  let err = '';
  const console: Console = {
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
    outClosed: new AbortController().signal,
    isOutTty: false,
    isErrTty: false,
    canAsk: false,
    canRewrite: false,
    columns: 80,
    hasColor: false,
    hasErrColor: false,
    hasUnicode: false,
    isSimulated: false,
  };
  const run: Run = {
    console,
    env: {},
    folder: '/nowhere',
    options: { parallel: 256, deadline: 30_000, color: true },
    own: {},
    words: [],
    tail: undefined,
    signal: new AbortController().signal,
    secrets: readSecrets(),
    ...changes,
  };
  return { run, out: () => out, err: () => err };
}
