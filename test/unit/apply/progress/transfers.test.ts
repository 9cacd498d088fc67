import { describe, expect, it } from 'vitest';
import { meterFor } from '../../../../src/apply/progress/transfer-meter.ts';
import { bytesOfText, transferPhrase, transferText } from '../../../../src/apply/progress/transfer-text.ts';
import {
  nodeProgress,
  type TransferProgress,
  type Transfers,
  transfersAfter,
  transfersIn,
  wholeProgress,
} from '../../../../src/apply/progress/transfers.ts';
import type { RunEvent } from '../../../../src/apply/run-events.ts';
import { columnsOf } from '../../../../src/diagnostics/cells.ts';
import { nodeName } from '../../../../src/model/node.ts';
import type { FetchSource, PeerPlan, TreeFile } from '../../../../src/model/node-script.ts';
import type { Step, StepOutcome, StepProgress } from '../../../../src/model/step.ts';
import { treeOf } from '../../../../src/rack/records/trees-reading.ts';
import { anyDigest, aStep, nodes } from '../../../rack/plans.ts';

const MB = 1_000_000;
const tree = treeOf('model', 'kimi-k2', anyDigest);
const files = (sizeBytes: number): readonly TreeFile[] => [{ path: 'a', sha256: anyDigest, sizeBytes }];
const hub: FetchSource = { kind: 'url', base: 'https://example.com/kimi/' };

/** A Mac that gets the model from other Macs. */
const peers: PeerPlan = {
  self: nodeName('studio-2'),
  role: 'receive',
  mode: 'mesh',
  port: 12_288,
  stripe: { at: 0, of: 1 },
  listen: [],
  sources: [],
  feeds: [],
};
const jobOn = (node: string, name: 'fetch-model' | 'verify-model', sizeBytes: number, more: object = {}): Step => {
  const act = { kind: 'job', key: anyDigest, name, args: { tree, files: files(sizeBytes), ...more } };
  return aStep(`${node}/${name}`, { node, act: act as Step['act'] });
};
const receiveOn = (node: string, sizeBytes: number): Step =>
  jobOn(node, 'fetch-model', sizeBytes, { source: hub, peers });
const fetchOn = (node: string, sizeBytes: number, source: FetchSource = hub): Step =>
  jobOn(node, 'fetch-model', sizeBytes, { source });
const verifyOn = (node: string, sizeBytes: number): Step => jobOn(node, 'verify-model', sizeBytes);
const sendTo = (node: string, name: string, sizeBytes: number): Step =>
  aStep(`${node}/${name}`, {
    node,
    act: { kind: 'send', source: name, to: { kind: 'node-path', path: '/x' }, sha256: anyDigest, sizeBytes },
  });

const started = (step: Step): RunEvent => ({ kind: 'step-started', step });
const moved = (step: Step, progress: StepProgress): RunEvent => ({
  kind: 'step-progress',
  step: step.id,
  node: step.node,
  ...progress,
});
const ended = (step: Step, outcome: StepOutcome = 'changed'): RunEvent => ({
  kind: 'step-ended',
  step,
  outcome,
  ms: 1,
  diagnostics: [],
});

/** The transfers of these steps after events at these seconds. */
const played = (
  steps: readonly Step[],
  ...events: readonly (readonly [second: number, event: RunEvent])[]
): Transfers =>
  events.reduce((state, [second, event]) => transfersAfter(state, event, second * 1_000), transfersIn(steps));

/** The same for steps that all start at once. */
const begun: typeof played = (steps, ...events) =>
  played(steps, ...steps.map((one) => [0, started(one)] as const), ...events);

const on = (node: string, state: Transfers, second: number): TransferProgress => {
  const progress = nodeProgress(state, nodeName(node), second * 1_000);
  if (progress === undefined) throw new Error(`nothing is transferred to ${node}`);
  return progress;
};

const fetch = fetchOn('studio-1', 1_000 * MB);
const receiving = (doneBytes: number, keptBytes = 0): RunEvent =>
  moved(fetch, { doneBytes, keptBytes, activity: 'receiving' });

/** All bytes of one model have arrived. */
const complete = { doneBytes: 1_000 * MB, totalBytes: 1_000 * MB, isRunning: true, isComparing: false };

describe("a node's transfer progress", () => {
  it('includes every file and model in the plan, not only those already started', () => {
    const [first, second] = [sendTo('studio-1', 'one', 100 * MB), sendTo('studio-1', 'two', 300 * MB)];
    const state = played([first, second, fetch], [0, started(first)], [9, ended(first)]);
    expect(on('studio-1', state, 10)).toMatchObject({ doneBytes: 100 * MB, totalBytes: 1_400 * MB, isRunning: false });
    expect(nodeProgress(state, nodeName('studio-2'), 0)).toBeUndefined();
  });

  it('shows a rate after a few seconds, and calculates the time left from that rate', () => {
    const soon = begun([fetch], [1, receiving(10 * MB)]);
    expect(on('studio-1', soon, 2).bytesPerSecond).toBeUndefined();
    const later = transfersAfter(soon, receiving(100 * MB), 10_000);
    expect(on('studio-1', later, 10)).toMatchObject({ bytesPerSecond: 10 * MB, msLeft: 90_000, bounds: ['uplink'] });
  });

  it('does not count bytes that were already on the node toward the rate', () => {
    const state = begun([fetch], [1, receiving(900 * MB, 900 * MB)], [10, receiving(950 * MB, 900 * MB)]);
    expect(on('studio-1', state, 10)).toMatchObject({ doneBytes: 950 * MB, bytesPerSecond: 5 * MB, msLeft: 10_000 });
  });

  it('counts a resumed file only once, and does not count any part that did not match', () => {
    const send = sendTo('studio-1', 'one', 1_000 * MB);
    const agreed = { doneBytes: 600 * MB, keptBytes: 600 * MB };
    const resumed = begun(
      [send],
      [1, moved(send, { ...agreed, activity: 'comparing' })],
      [2, moved(send, agreed)],
      [10, moved(send, { ...agreed, doneBytes: 700 * MB })],
    );
    expect(on('studio-1', resumed, 10)).toMatchObject({ bytesPerSecond: 10 * MB, bounds: ['controller'] });
    const restarted = transfersAfter(resumed, moved(send, { doneBytes: 50 * MB, keptBytes: 0 }), 20_000);
    expect(on('studio-1', restarted, 20)).toMatchObject({ doneBytes: 50 * MB });
  });

  it('adds the rates of two transfers to one node', () => {
    const send = sendTo('studio-1', 'one', 1_000 * MB);
    const state = begun(
      [fetch, send],
      [10, receiving(100 * MB)],
      [10, moved(send, { doneBytes: 50 * MB, keptBytes: 0 })],
    );
    const progress = on('studio-1', state, 10);
    expect(progress).toMatchObject({ doneBytes: 150 * MB, totalBytes: 2_000 * MB, bytesPerSecond: 15 * MB });
    expect(progress.bounds).toEqual(['uplink', 'controller']);
  });

  it('shows no rate, time left or stall while it waits for its download hours', () => {
    const other = receiveOn('studio-2', 1_000 * MB);
    const until = { activity: 'waiting', until: '22:00' } as const;
    const waiting = begun(
      [fetch, other],
      [10, receiving(100 * MB)],
      [20, moved(fetch, { doneBytes: 100 * MB, keptBytes: 0, ...until })],
      [20, moved(other, { doneBytes: 90 * MB, keptBytes: 0, ...until })],
    );
    const progress = on('studio-1', waiting, 9_000);
    expect(progress).toEqual({ ...complete, doneBytes: 100 * MB, bounds: [], waitsUntil: '22:00' });
    expect(transferText(progress, 80)).toBe('100 MB of 1 GB  10 %  waits until 22:00 (downloads.window)');
    expect(transferText(progress, 36)).toBe('100 MB of 1 GB  waits until 22:00');
    expect(transferPhrase(progress)).toBe('100 MB of 1 GB (10 %), waits until 22:00 (downloads.window)');
    const whole = wholeProgress(waiting, 9_000_000);
    expect(whole && transferPhrase(whole)).toBe('190 MB of 2 GB (9 %), waits until 22:00 (downloads.window)');
    const resumed = transfersAfter(waiting, receiving(100 * MB), 9_000_000);
    expect(on('studio-1', resumed, 9_001).waitsUntil).toBeUndefined();
    expect(wholeProgress(resumed, 9_001_000)?.waitsUntil).toBeUndefined();
  });

  it('reports a stall instead of a rate and a time left', () => {
    const state = begun([fetch], [10, receiving(100 * MB)]);
    expect(on('studio-1', state, 40)).toEqual({
      ...complete,
      doneBytes: 100 * MB,
      bounds: ['uplink'],
      stillMs: 30_000,
    });
    const repeated = transfersAfter(transfersAfter(state, receiving(100 * MB), 20_000), receiving(100 * MB), 30_000);
    expect(on('studio-1', repeated, 40).stillMs).toBe(30_000);
    const resumed = transfersAfter(state, receiving(130 * MB), 41_000);
    expect(on('studio-1', resumed, 41).stillMs).toBeUndefined();
  });

  it('ignores higher rates from more than a minute ago', () => {
    const seconds = Array.from({ length: 200 }, (_, index) => index + 1);
    const events = seconds.map((second): readonly [number, RunEvent] => [
      second,
      receiving((second <= 100 ? 5 * second : 500 + (second - 100)) * MB),
    ]);
    const state = begun([fetch], ...events);
    expect(on('studio-1', state, 200).bytesPerSecond).toBeCloseTo(MB, 0);
    expect(state.nodes.get(nodeName('studio-1'))?.samples.length).toBeLessThan(70);
  });

  it('omits a comparison that a later step reports', () => {
    const { act, ...rest } = verifyOn('studio-1', 100 * MB);
    const detached = { ...rest, act: { ...act, isDetached: true } } as Step;
    expect(transfersIn([detached]).steps.size).toBe(0);
  });

  it('does not average over the pause before a later transfer', () => {
    const send = sendTo('studio-1', 'one', 100 * MB);
    const state = played(
      [send, fetch],
      [0, started(send)],
      [5, ended(send)],
      [35, started(fetch)],
      [45, receiving(100 * MB)],
    );
    expect(on('studio-1', state, 45).bytesPerSecond).toBe(10 * MB);
  });

  it('does not report a long comparison as a stall', () => {
    const comparing = moved(fetch, { doneBytes: 500 * MB, keptBytes: 0, activity: 'comparing' });
    const state = begun([fetch], [10, receiving(500 * MB)], [11, comparing]);
    const { stillMs, bounds } = on('studio-1', state, 45);
    expect([stillMs, bounds]).toEqual([undefined, ['hash']]);
  });

  it('shows the comparison on the node after the last byte', () => {
    const [send, verify] = [sendTo('studio-1', 'one', 100 * MB), verifyOn('studio-1', 100 * MB)];
    const state = played(
      [send, verify],
      [0, started(send)],
      [5, ended(send)],
      [5, started(verify)],
      [15, moved(verify, { doneBytes: 40 * MB })],
    );
    expect(on('studio-1', state, 15)).toMatchObject({
      doneBytes: 40 * MB,
      totalBytes: 100 * MB,
      isComparing: true,
      bytesPerSecond: 4 * MB,
      bounds: ['hash'],
    });
    const done = transfersAfter(state, ended(verify), 20_000);
    expect(on('studio-1', done, 20)).toMatchObject({ doneBytes: 100 * MB, isRunning: false, isComparing: false });
  });

  it('shows no rate while the last bytes are compared', () => {
    const comparing = moved(fetch, { doneBytes: 1_000 * MB, keptBytes: 0, activity: 'comparing' });
    const state = begun([fetch], [10, comparing]);
    expect(on('studio-1', state, 11)).toEqual({ ...complete, bounds: ['hash'] });
  });

  it('names the Macs that send the bytes, unless no bytes arrive', () => {
    const receive = receiveOn('studio-2', 1_000 * MB);
    const from = (doneBytes: number): RunEvent =>
      moved(receive, { doneBytes, keptBytes: 0, activity: 'receiving', sources: nodes(1, 3) });
    const state = begun([receive], [10, from(100 * MB)]);
    expect(on('studio-2', state, 10)).toMatchObject({ bounds: ['cables'], sources: nodes(1, 3) });
    expect(on('studio-2', state, 30)).toMatchObject({ bounds: ['cables'], stillMs: 20_000 });
    expect(on('studio-2', state, 30).sources).toBeUndefined();
    const alone = transfersAfter(state, moved(receive, { doneBytes: 200 * MB, activity: 'receiving' }), 31_000);
    expect(on('studio-2', alone, 31)).toMatchObject({ bounds: [] });
    expect(on('studio-2', alone, 31).sources).toBeUndefined();
    const all = transfersAfter(state, from(1_000 * MB), 32_000);
    expect(on('studio-2', all, 32)).toMatchObject({ bounds: ['hash'] });
  });

  it('names the Macs that a complete Mac serves, and shows no rate or stall', () => {
    const serving = moved(fetch, { doneBytes: 1_000 * MB, activity: 'serving', feeds: nodes(2, 3) });
    const state = begun([fetch], [10, serving]);
    expect(on('studio-1', state, 4_000)).toEqual({ ...complete, bounds: [], feeds: nodes(2, 3) });
    const done = transfersAfter(state, ended(fetch), 4_001_000);
    expect(on('studio-1', done, 4_001).feeds).toBeUndefined();
  });

  it('names no bottleneck for a job that does not report its activity', () => {
    const state = begun([fetch], [10, moved(fetch, { doneBytes: 100 * MB })]);
    expect(on('studio-1', state, 10)).toMatchObject({ bytesPerSecond: 10 * MB, bounds: [] });
  });

  it.each<[FetchSource, string]>([
    [{ kind: 'url', base: 'https://huggingface.co/x/' }, 'uplink'],
    [{ kind: 'url', base: 'https://mirror.lan:8443/x/' }, 'lan'],
    [{ kind: 'url', base: 'http://user@192.168.7.4/x/', plainHttp: true }, 'lan'],
    [{ kind: 'url', base: 'https://nas/x/' }, 'lan'],
    [{ kind: 'url', base: 'https://[2001:db8::1]/x/' }, 'uplink'],
    [{ kind: 'folder', folder: { kind: 'node-path', path: '/models' } }, 'disk'],
  ])('names the bottleneck for a transfer from %j', (source, bound) => {
    const one = fetchOn('studio-1', MB, source);
    const state = begun([one], [1, moved(one, { doneBytes: 1, activity: 'receiving' })]);
    expect(on('studio-1', state, 1).bounds).toEqual([bound]);
  });
});

describe('the progress of all nodes together', () => {
  const other = fetchOn('studio-2', 3_000 * MB);
  const both = [fetch, other];
  const whole = (state: Transfers, second: number) => wholeProgress(state, second * 1_000);

  it('is omitted for a single node', () => {
    expect(wholeProgress(transfersIn([fetch]), 0)).toBeUndefined();
  });

  it('adds bytes and rates, and ends with the slowest node', () => {
    const state = begun(
      both,
      [10, receiving(500 * MB)],
      [10, moved(other, { doneBytes: 100 * MB, keptBytes: 0, activity: 'receiving' })],
    );
    expect(whole(state, 10)).toEqual({
      doneBytes: 600 * MB,
      totalBytes: 4_000 * MB,
      isRunning: true,
      isComparing: false,
      bounds: ['uplink'],
      bytesPerSecond: 60 * MB,
      msLeft: 290_000,
    });
  });

  describe('with one Mac that downloads for another', () => {
    const receive = receiveOn('studio-2', 1_000 * MB);
    const at10 = (downloaded: number, received: number, activity: 'receiving' | 'serving' = 'receiving') =>
      whole(
        begun(
          [fetch, receive],
          [10, moved(fetch, { doneBytes: downloaded * MB, keptBytes: 0, activity, feeds: nodes(2) })],
          [10, moved(receive, { doneBytes: received * MB, keptBytes: 0, activity: 'receiving', sources: nodes(1) })],
        ),
        10,
      );

    it('is limited by the uplink while the other Mac keeps up, and otherwise by the cables', () => {
      expect(at10(500, 450)?.bounds).toEqual(['uplink']);
      expect(at10(500, 900)?.bounds).toEqual(['uplink']);
      expect(at10(500, 200)?.bounds).toEqual(['cables']);
    });

    it('still shows the time left while the first Mac only serves the other', () => {
      const progress = at10(1_000, 500, 'serving');
      expect(progress).toMatchObject({ bounds: ['cables'], bytesPerSecond: 50 * MB, msLeft: 10_000 });
    });

    it('names every possible bottleneck while a rate is unknown', () => {
      expect(at10(500, 0)?.bounds).toEqual(['cables']);
      const soon = played(
        [fetch, receive],
        [0, started(fetch)],
        [9, started(receive)],
        [10, receiving(100 * MB)],
        [10, moved(receive, { doneBytes: 10 * MB, activity: 'receiving', sources: nodes(1) })],
      );
      expect(whole(soon, 10)?.bounds).toEqual(['uplink', 'cables']);
    });
  });

  it('shows no time left while one node is stalled', () => {
    const state = begun(both, [5, moved(other, { doneBytes: 100 * MB, keptBytes: 0 })], [30, receiving(500 * MB)]);
    expect(whole(state, 30)?.msLeft).toBeUndefined();
    expect(whole(state, 30)?.bytesPerSecond).toBeGreaterThan(0);
  });
});

describe("a transfer's text", () => {
  const progress: TransferProgress = {
    doneBytes: 412e9,
    totalBytes: 735e9,
    isRunning: true,
    isComparing: false,
    bytesPerSecond: 2.9e9,
    msLeft: 111_000,
    bounds: ['uplink'],
  };

  it('omits parts that do not fit, but always shows the bytes', () => {
    expect(transferText(progress, 64)).toBe('412 of 735 GB  56 %  2.9 GB/s  111 s left  over the uplink');
    expect(transferText(progress, 50)).toBe('412 of 735 GB 2.9 GB/s 111 s left over the uplink');
    expect(transferText(progress, 24)).toBe('412 of 735 GB 111 s left');
    expect(transferText(progress, 5)).toBe('412 of 735 GB');
    for (const columns of [20, 24, 34, 48, 60])
      expect(columnsOf(transferText(progress, columns))).toBeLessThanOrEqual(columns);
  });

  it('names the Macs at the other ends of the cables, if there is room', () => {
    const received: TransferProgress = { ...progress, bounds: ['cables'], sources: nodes(1, 3) };
    expect(transferText(received, 66)).toBe('412 of 735 GB  56 %  2.9 GB/s  111 s left  from studio-1, studio-3');
    expect(transferText(received, 64)).toBe('412 of 735 GB 56 % 2.9 GB/s 111 s left from studio-1, studio-3');
    expect(transferText(received, 24)).toBe('412 of 735 GB 111 s left');
    expect(transferText({ ...received, sources: nodes(3, 1, 2) }, 66)).toMatch(/ {2}from studio-1\.\.3$/);
    expect(transferPhrase({ ...received, bounds: ['uplink', 'cables'] })).toBe(
      '412 of 735 GB (56 %), 2.9 GB/s, 111 s left, over the uplink, from studio-1, studio-3',
    );
  });

  it('shows which Macs a complete Mac serves, without a percentage', () => {
    const { bytesPerSecond: _rate, msLeft: _left, ...rest } = progress;
    const serving: TransferProgress = { ...rest, doneBytes: 735e9, bounds: [], feeds: nodes(2, 3, 4) };
    expect(transferText(serving, 64)).toBe('735 of 735 GB  serving studio-2..4');
    expect(transferText(serving, 24)).toBe('735 of 735 GB');
    expect(transferPhrase(serving)).toBe('735 of 735 GB, serving studio-2..4');
    expect(transferPhrase({ ...serving, feeds: [] })).toBe('735 of 735 GB, waiting for other Macs');
  });

  it('is written as a phrase on a separate line', () => {
    expect(transferPhrase(progress)).toBe('412 of 735 GB (56 %), 2.9 GB/s, 111 s left, over the uplink');
    const { bytesPerSecond: _rate, msLeft: _left, ...stalled } = progress;
    expect(transferPhrase({ ...stalled, stillMs: 40_000, bounds: [] })).toBe('412 of 735 GB (56 %), no bytes for 40 s');
    expect(transferPhrase({ ...stalled, isRunning: false, bounds: [] })).toBe('412 of 735 GB');
    const bounds = ['controller', 'lan', 'cables', 'ssh', 'disk', 'hash'] as const;
    expect(transferPhrase({ ...stalled, bounds })).toBe(
      '412 of 735 GB (56 %), from this computer, over the LAN, over the cables, over SSH, on its own disk, checking SHA-256',
    );
    expect(transferPhrase({ ...stalled, bounds: ['ssh'], sources: nodes(1) })).toMatch(/, from studio-1$/);
  });

  it('names both units if they differ', () => {
    expect(bytesOfText(900e6, 1.2e9)).toBe('900 MB of 1.2 GB');
  });
});

describe('a transfer meter', () => {
  /** What is measured from these progress reports at these seconds. */
  const measured = (step: Step, ...reports: readonly (readonly [second: number, progress: StepProgress])[]) => {
    const meter = meterFor(step);
    for (const [second, progress] of reports) meter?.add(progress, second * 1_000);
    return meter?.measured();
  };
  const fetch = fetchOn('studio-1', 900 * MB);
  const got = (doneBytes: number, more: StepProgress = {}): StepProgress => ({
    doneBytes: doneBytes * MB,
    activity: 'receiving',
    ...more,
  });

  it('counts the time until the last byte, with pauses between bytes, but no bytes from before', () => {
    const kept = { keptBytes: 100 * MB };
    const reports = [
      [5, got(100, kept)],
      [15, got(300, kept)],
      [20, got(300, kept)],
      [25, got(900, kept)],
    ] as const;
    // A report may leave out what was there before.
    expect(measured(fetch, ...reports, [90, got(900)])).toEqual({ from: 'uplink', bytes: 800 * MB, ms: 20_000 });
  });

  it('counts neither the hours in which a download waits nor a comparison', () => {
    const wait = { ...got(300), until: '22:00' };
    const compare: StepProgress = { activity: 'comparing' };
    expect(
      measured(fetch, [0, got(0)], [10, got(300)], [20, wait], [9_000, got(300)], [9_010, got(500)], [9_020, compare]),
    ).toEqual({ from: 'uplink', bytes: 500 * MB, ms: 20_000 });
  });

  it('counts bytes from other nodes only while those nodes are the sources', () => {
    const step = receiveOn('studio-2', 900 * MB);
    const sources = [nodeName('studio-1')];
    const own = [
      [20, got(400)],
      [50, got(800)],
    ] as const;
    expect(measured(step, [0, got(0, { sources })], [10, got(400, { sources })], ...own)).toEqual({
      from: 'cables',
      bytes: 400 * MB,
      ms: 10_000,
    });
    expect(measured(step, ...own)).toBeUndefined();
  });

  it('measures transfers from this computer, but not short transfers or transfers within a node', () => {
    const send = sendTo('studio-1', 'archive', 900 * MB);
    expect(measured(send, [0, { doneBytes: 0 }], [30, { doneBytes: 900 * MB }])).toMatchObject({ from: 'controller' });
    expect(measured(send, [0, { doneBytes: 0 }], [9, { doneBytes: 900 * MB }])).toBeUndefined();
    expect(meterFor(verifyOn('studio-1', 900 * MB))).toBeUndefined();
  });
});
