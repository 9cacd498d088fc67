import { describe, expect, it } from 'vitest';
import type { Console } from '../../../src/cli/console.ts';
import { listenForSignals } from '../../../src/cli/signals.ts';
import { leakWarnings } from '../remote/leak-warnings.ts';

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

describe('the signal of a run', () => {
  it('is heard by every node of the largest rack without a warning from Node', async () => {
    const warnings = await leakWarnings(async () => {
      const signals = listenForSignals(silent);
      for (let node = 0; node < 256; node += 1) signals.signal.addEventListener('abort', () => undefined);
      signals.stop();
    });
    expect(warnings).toEqual([]);
  });
});
