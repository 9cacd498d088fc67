import { describe, expect, it } from 'vitest';
import type { RunEvent } from '../../../../src/apply/run-events.ts';
import { createRunLines } from '../../../../src/cli/apply/run-lines.ts';
import type { Step } from '../../../../src/model/step.ts';
import { treeOf } from '../../../../src/rack/records/trees-reading.ts';
import { anyDigest, aStep } from '../../../rack/plans.ts';

const sendTo = (node: string): Step =>
  aStep(`${node}/send`, {
    node,
    act: { kind: 'send', source: 'a', to: { kind: 'node-path', path: '/a' }, sha256: anyDigest, sizeBytes: 1e9 },
  });
const [one, two] = [sendTo('studio-1'), sendTo('studio-2')];
const gate = aStep('studio-1/joined', { node: 'studio-1' });

const started = (step: Step): RunEvent => ({ kind: 'step-started', step });
const sent = (step: Step, doneBytes: number): RunEvent => ({
  kind: 'step-progress',
  step: step.id,
  node: step.node,
  doneBytes,
  keptBytes: 0,
});
const waiting: RunEvent = { kind: 'step-progress', step: gate.id, node: gate.node, text: 'rank 2 is missing' };

/** The lines with the second at which each was printed; a number is a tick without an event. */
function printed(steps: readonly Step[], ...events: readonly (readonly [second: number, event?: RunEvent])[]) {
  const lines = createRunLines();
  lines.begin({ changes: [], steps });
  return events.flatMap(([second, event]) => {
    const nowMs = second * 1_000;
    const said = event === undefined ? lines.transferLines(nowMs) : lines.linesFor(event, nowMs);
    return said.map((line) => `${second} ${line}`);
  });
}

describe("a run's lines without a terminal", () => {
  it('report a transfer every ten seconds, however often it makes progress', () => {
    const events = [1, 5, 9, 10, 12, 19, 20].map((second): [number, RunEvent] => [second, sent(one, second * 1e7)]);
    expect(printed([one], [0, started(one)], ...events)).toEqual([
      '10 studio-1 100 MB of 1 GB (10 %), 10 MB/s, 90 s left, from this computer',
      '20 studio-1 200 MB of 1 GB (20 %), 10 MB/s, 80 s left, from this computer',
    ]);
  });

  it('report the total for all nodes below the individual nodes', () => {
    const events: [number, RunEvent][] = [
      [0, started(one)],
      [0, started(two)],
      [10, sent(one, 1e8)],
      [10, sent(two, 5e7)],
    ];
    expect(printed([one, two], ...events, [11])).toEqual([
      '10 studio-1 100 MB of 1 GB (10 %), 10 MB/s, 90 s left, from this computer',
      '10 studio-2 0 B of 1 GB (0 %), from this computer',
      '10 total 100 MB of 2 GB (5 %), 10 MB/s, from this computer',
    ]);
  });

  it('report a transfer that waits for its download hours only once, until the transfer continues', () => {
    const tree = treeOf('model', 'kimi', anyDigest);
    const files = [{ path: 'a', sha256: anyDigest, sizeBytes: 1e9 }];
    const args = { tree, files, source: { kind: 'url' as const, base: 'https://example.com/' } };
    const fetch = aStep('studio-1/fetch', {
      node: 'studio-1',
      act: { kind: 'job', key: anyDigest, name: 'fetch-model', args },
    });
    const held: RunEvent = { ...sent(fetch, 1e8), activity: 'waiting', until: '22:00' } as RunEvent;
    const ticks = Array.from({ length: 3_000 }, (_, index): [number] => [index + 2]);
    expect(printed([fetch], [0, started(fetch)], [1, held], ...ticks, [3_010, sent(fetch, 2e8)])).toEqual([
      '10 studio-1 100 MB of 1 GB (10 %), waits until 22:00 (downloads.window)',
      expect.stringMatching(/^3010 studio-1 200 MB of 1 GB \(20 %\)/),
    ]);
  });

  it('report a stall at increasing intervals, even without new events', () => {
    const ticks = Array.from({ length: 100 }, (_, index): [number] => [index + 2]);
    const said = printed([one], [0, started(one)], [1, sent(one, 1e7)], ...ticks);
    expect(said.map((line) => line.replace(/ studio-1 10 MB of 1 GB \(1 %\), /, ': '))).toEqual([
      '10: 1 MB/s, 17 min left, from this computer',
      '20: no bytes for 19 s, from this computer',
      '40: no bytes for 39 s, from this computer',
      '80: no bytes for 79 s, from this computer',
    ]);
  });

  it('report what a step is waiting for', () => {
    expect(printed([one, gate], [0, started(gate)], [4, waiting], [12, waiting])).toEqual([
      '12 studio-1 joined rank 2 is missing',
    ]);
  });
});
