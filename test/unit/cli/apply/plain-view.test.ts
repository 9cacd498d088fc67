import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { RunEvent } from '../../../../src/apply/run-events.ts';
import { plainView } from '../../../../src/cli/apply/plain-view.ts';
import { nodeName } from '../../../../src/model/node.ts';
import type { Step } from '../../../../src/model/step.ts';
import { aStep, emptyPlan } from '../../../rack/plans.ts';
import { fakeRun } from '../console-of.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const node = nodeName('studio-1');
const ready = aStep('studio-1/chat/ready', { node });
const started = (step: Step): RunEvent => ({ kind: 'step-started', step });
const waits = (step: Step, progress: object): RunEvent => ({ kind: 'step-progress', step: step.id, node, ...progress });

/** A view, its output, and the seconds at which it printed lines. */
function timedView(options: { readonly json?: true } = {}) {
  const seconds: number[] = [];
  const { run, out, err } = fakeRun();
  const startedAtMs = performance.now();
  const timed = (write: (text: string) => void) => (text: string) => {
    seconds.push((performance.now() - startedAtMs) / 1_000);
    write(text);
  };
  const console = { ...run.console, out: timed(run.console.out), err: timed(run.console.err) };
  const view = plainView({ ...run, console, options: { ...run.options, ...options } });
  view.begin(emptyPlan({ observed: {}, steps: [ready], rescues: [] }));
  return { view, out, err: () => err().split('\n').slice(0, -1), seconds };
}

describe('the view of a run without a terminal', () => {
  it.each([{}, { json: true } as const])(
    'is never silent for more than five seconds while a step runs: %j',
    (options) => {
      const { view, out, err, seconds } = timedView(options);
      view.listen(started(ready));
      vi.advanceTimersByTime(30_000);
      view.listen(waits(ready, { text: 'rank 2 is not listening' }));
      vi.advanceTimersByTime(30_000);
      const gaps = [...seconds, 60].map((second, at) => second - (seconds[at - 1] ?? 0));
      expect(Math.max(...gaps)).toBeLessThanOrEqual(5);
      expect([err()[0], err().at(-1)]).toEqual([
        'still running: studio-1 chat/ready (4 s)',
        `still running: studio-1 chat/ready rank 2 is not listening (${options.json ? 60 : 58} s)`,
      ]);
      expect([err().length, out().split('\n').length - 1]).toEqual(options.json ? [15, 0] : [14, 1]);
    },
  );

  it('shows the longest steps and waits for leases, without exceeding the page width', () => {
    const { view, err } = timedView();
    view.listen({ kind: 'lease', node, state: 'waiting' } as RunEvent);
    vi.advanceTimersByTime(1_000);
    for (const name of ['a', 'b', 'c']) view.listen(started(aStep(`studio-1/${name}`, { node })));
    vi.advanceTimersByTime(4_000);
    expect(err().slice(-2)).toEqual([
      'still running: waiting for the lease of studio-1 (4 s); studio-1 a (3 s);',
      'studio-1 b (3 s); 1 more',
    ]);
  });

  it('prints nothing between two steps, or while a download waits for its download hours', () => {
    const { view, seconds } = timedView();
    vi.advanceTimersByTime(60_000);
    view.listen(started(ready));
    view.listen(waits(ready, { doneBytes: 1, activity: 'waiting', until: '22:00' }));
    vi.advanceTimersByTime(60_000);
    view.listen({ kind: 'step-ended', step: ready, outcome: 'unchanged', ms: 1, diagnostics: [] } as never);
    vi.advanceTimersByTime(60_000);
    expect(seconds).toEqual([]);
  });
});
