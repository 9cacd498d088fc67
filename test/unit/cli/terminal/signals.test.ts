import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { listenForSignals } from '../../../../src/cli/terminal/signals.ts';
import { startModule } from '../../own-process.ts';
import { leakWarnings } from '../../remote/leak-warnings.ts';
import { fakeRun } from '../console-of.ts';

describe("a run's abort signal", () => {
  it('reaches every node of the largest rack without a warning from Node', async () => {
    const warnings = await leakWarnings(async () => {
      const signals = listenForSignals(fakeRun().run.console);
      for (let node = 0; node < 256; node += 1) signals.signal.addEventListener('abort', () => undefined);
      signals.stop();
    });
    expect(warnings).toEqual([]);
  });

  // By default, SIGQUIT makes the system write the memory of the process, with its secrets, into a core file.
  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 143],
    ['SIGQUIT', 143],
  ] as const)('stops a run cleanly at the first %s, and exits with code %i at the second', async (name, exit) => {
    const child = startModule(`import { listenForSignals } from './src/cli/terminal/signals.ts';
listenForSignals({ err: (text) => process.stdout.write(text) });
setInterval(() => undefined, 1_000);
console.log('listening');`);
    const output = async (): Promise<string> =>
      String(await Promise.race([once(child, 'exit'), once(child.stdout as NonNullable<typeof child.stdout>, 'data')]));
    await output();
    child.kill(name);
    expect(await output()).toContain('stopping cleanly');
    child.kill(name);
    expect(await once(child, 'exit')).toEqual([exit, null]);
  });
});
