import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { askIfPossible, askYes } from '../../../../src/cli/terminal/ask.ts';
import * as terminal from '../../../../src/cli/terminal/console.ts';
import { exitOfSignal } from '../../../../src/cli/terminal/signals.ts';
import { onOnePage, sayValue } from '../../one-page.ts';
import { fakeRun } from '../console-of.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A console, and its output with the second of each text. */
function timedConsole(changes: Partial<terminal.Console>) {
  const written: string[] = [];
  const startedAtMs = performance.now();
  const write = (text: string): void => void written.push(`${(performance.now() - startedAtMs) / 1_000}: ${text}`);
  return { console: { ...fakeRun().run.console, out: write, err: write, columns: 60, ...changes }, written };
}

describe("a command's progress", () => {
  it.each([
    [true, 5_500, [2_500, 4_500]],
    [false, 13_000, [2_500, 12_500]],
    [true, 1_999, [1, 1_500]],
    [false, 1_999, [1, 1_500]],
  ])(
    'is redrawn on a terminal, and printed less often otherwise (terminal: %s)',
    async (canRewrite, forMs, doneAtMs) => {
      const { console, written } = timedConsole({ canRewrite });
      const what = canRewrite ? 'observing' : () => 'asking';
      const work = terminal.withProgress(console, [what, [{ name: 'a' }, { name: 'b' }]], async (done) => {
        for (const [at, name] of ['a', 'b'].entries()) setTimeout(() => done(name), doneAtMs[at]);
        await new Promise((resolve) => setTimeout(resolve, forMs));
        return 'result';
      });
      await vi.advanceTimersByTimeAsync(forMs);
      expect([await work, vi.getTimerCount()]).toEqual(['result', 0]);
      expect(sayValue(written)).toHaveLength(forMs < 2_000 ? 0 : canRewrite ? 4 : 3);
    },
  );

  it.each([true, false])('shows what a wait still needs (terminal: %s)', (canRewrite) => {
    const { console, written } = timedConsole({ canRewrite });
    const wait = terminal.showWait(console);
    wait.end();
    wait.show(['rank 1', 'rank 2'], 61_000);
    vi.advanceTimersByTime(4_999);
    wait.show(['x'], 10_000);
    vi.advanceTimersByTime(1);
    wait.show(['y'.repeat(60)], -1_000);
    wait.end();
    wait.end();
    expect(sayValue(written)).toHaveLength(canRewrite ? 4 : 2);
  });

  it.each(['isOutTty', 'canRewrite', 'both'])('is a block below the lines on a live terminal (%s)', (has) => {
    const { console, written } = timedConsole({
      [has]: true,
      ...(has === 'both' && { isOutTty: true, canRewrite: true }),
    });
    const block = terminal.liveBlock(console);
    block(['a'], ['x', 'y']);
    block([], ['x', 'y']);
    block([], ['z']);
    block(['b'], []);
    block(['c'], ['z']);
    expect(sayValue(written).join('').includes('z')).toBe(has === 'both');
  });
});

describe('a console', () => {
  it.each([true, false])('colors each tone and resets the color (%s)', (hasColor) => {
    const tones = ['good', 'bad', 'warn', 'dim', 'strong'] as const;
    const painted = sayValue(tones.map((tone) => terminal.paintFor(hasColor)(tone, 'x')));
    expect(new Set(painted).size).toBe(hasColor ? 5 : 1);
  });

  it("writes to its process's streams, in ASCII if necessary, and prints errors below a drawing", () => {
    const streams = { stdin: { isTTY: true }, stdout: new PassThrough(), stderr: new PassThrough() };
    const about = { noColor: false, isSimulated: true, hasEvents: true };
    const open = (LANG: string, isTTY = true) =>
      terminal.processConsole({ LANG }, about, { ...streams, stderr: Object.assign(streams.stderr, { isTTY }) });
    const console = open('C');
    console.out('a → b');
    console.err('c → d\n');
    open('C.UTF-8').out('e → f');
    const drawn: string[] = [];
    console.drawing = (text) => void drawn.push(text);
    console.err('g → h\n');
    expect([streams.stdout, streams.stderr].map((one) => `${one.read()}`)).toEqual(['a -> be → f', 'c -> d\n']);
    expect(drawn).toEqual(['g -> h']);
    expect(sayValue(console)).toMatchObject({ isErrTty: true, canAsk: true });
    expect([open('C', false).canAsk, console.outClosed.aborted]).toEqual([false, false]);
    streams.stdout.emit('error', Object.assign(new Error('no reader'), { code: 'EPIPE' }));
    streams.stderr.emit('error', new Error('no reader'));
    expect(console.outClosed.aborted).toBe(true);
  });

  it('prints JSON on several lines, or on one line after events', () => {
    const lines = [{}, { hasEvents: true }].map((changes) => {
      const { console, written } = timedConsole(changes);
      terminal.showJson(console, { formatVersion: 1, diagnostics: [] } as never);
      return sayValue(written).join('').split('\n').length;
    });
    expect(lines).toEqual([5, 2]);
  });

  it('prints a result as JSON with --json and as text otherwise, and returns its exit code', () => {
    const shown = [true, false].map((json) => {
      const { console, written } = timedConsole({});
      const document = { formatVersion: 1, diagnostics: [] } as never;
      const exit = terminal.showEnded({ console, options: { json } }, { exit: 3, document, text: 'done' });
      return [exit, written.join('').includes('done')];
    });
    expect(shown).toEqual([
      [3, false],
      [3, true],
    ]);
  });

  it('asks only if there is a terminal and no --yes', async () => {
    const { run } = fakeRun();
    const agreed = { ...run, options: { ...run.options, yes: true } };
    expect([await askYes(agreed, 'Go?'), await askIfPossible(agreed, 'Go?')]).toEqual([true, true]);
    expect(await askIfPossible(run, 'Go?')).toBeUndefined();
    await expect(askYes(run, 'Go?')).rejects.toMatchObject({ diagnostics: [{ code: 'cli/needs-yes', detail: 'Go?' }] });
  });

  it('exits with the code of the signal that aborted the run', () => {
    const reasons = [new Error('x', { cause: 143 }), new Error('x', { cause: 130 }), new Error('x'), 'x'];
    expect(reasons.map((reason) => exitOfSignal(AbortSignal.abort(reason)))).toEqual([143, 130, 130, 130]);
    expect(exitOfSignal(new AbortController().signal)).toBeUndefined();
  });
});

onOnePage('console');
