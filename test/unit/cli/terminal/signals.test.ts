import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import type { Console } from '../../../../src/cli/terminal/console.ts';
import { listenForSignals } from '../../../../src/cli/terminal/signals.ts';
import { startModule } from '../../own-process.ts';
import { leakWarnings } from '../../remote/leak-warnings.ts';

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
  isSimulated: false,
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

  // By itself the system would write the memory of the process, with its secrets, into a core file at SIGQUIT.
  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 143],
    ['SIGQUIT', 143],
  ] as const)(
    'stops a run in order at the first %s and ends it with %i at the second (cases 34, 57)',
    async (name, exit) => {
      const child = startModule(`import { listenForSignals } from './src/cli/terminal/signals.ts';
listenForSignals({ err: (text) => process.stdout.write(text) });
setInterval(() => undefined, 1_000);
console.log('listening');`);
      const said = async (): Promise<string> =>
        String(
          await Promise.race([once(child, 'exit'), once(child.stdout as NonNullable<typeof child.stdout>, 'data')]),
        );
      await said();
      child.kill(name);
      expect(await said()).toContain('stopping cleanly');
      child.kill(name);
      expect(await once(child, 'exit')).toEqual([exit, null]);
    },
  );
});
