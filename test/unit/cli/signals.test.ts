import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import type { Console } from '../../../src/cli/console.ts';
import { listenForSignals } from '../../../src/cli/signals.ts';

const silent: Console = {
  out: () => undefined,
  err: () => undefined,
  outClosed: new AbortController().signal,
  isOutTty: false,
  isErrTty: false,
  canAsk: false,
  canRewrite: false,
  columns: 80,
  hasColor: false,
  hasErrColor: false,
  hasUnicode: false,
};

const warnings: Error[] = [];
const note = (warning: Error): void => void warnings.push(warning);

afterEach(() => {
  process.off('warning', note);
  warnings.length = 0;
});

describe('the signal of a run', () => {
  it('is heard by every node of the largest rack without a warning from Node', async () => {
    process.on('warning', note);
    const signals = listenForSignals(silent);
    for (let node = 0; node < 256; node += 1) signals.signal.addEventListener('abort', () => undefined);
    await nextTurn();
    signals.stop();
    expect(warnings).toEqual([]);
  });
});
