import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import type { TransferProgress } from '../../../src/apply/progress/transfers.ts';
import type { RunEvent } from '../../../src/apply/run-events.ts';
import { lineAfter, linesOf, lineText, type RunLine, showRun, stateOf } from '../../../src/apply/show-run.ts';
import { columnsOf } from '../../../src/diagnostics/cells.ts';
import { diagnose } from '../../../src/diagnostics/diagnose.ts';
import type { Step, StepOutcome } from '../../../src/model/step.ts';
import { anyDigest, aStep } from '../../rack/plans.ts';
import { onOnePage, sayValue } from '../one-page.ts';

const power = aStep('a');
const bridge: Step = { ...aStep('b', { needs: ['a'] }), resource: 'thunderbolt-bridge' };
const address: Step = { ...aStep('c'), resource: 'link-address' };
const model: Step = { ...aStep('d', { node: 'studio-3' }), resource: 'model' };
const start: Step = { ...aStep('e', { node: 'studio-2' }), resource: 'placement' };

const started = (step: Step): RunEvent => ({ kind: 'step-started', step });
const ended = (step: Step, outcome: StepOutcome = 'changed', ms = 700): RunEvent => ({
  kind: 'step-ended',
  step,
  outcome,
  ms,
  diagnostics: outcome === 'failed' ? [diagnose('ssh/dropped', { detail: 'gone' })] : [],
});

const lineOf = (name: string, events: readonly RunEvent[], steps: readonly Step[]): RunLine => {
  const [line] = linesOf(steps).filter((one) => one.name === name);
  if (!line) throw new Error(`no line ${name}`);
  return events.reduce(lineAfter, line);
};

const textOf = (name: string, events: readonly RunEvent[], columns = 74): string =>
  sayValue(lineText(lineOf(name, events, [power, bridge, address, model, start]), 8, columns));

describe('the node lines of a run', () => {
  it('list the nodes in plan order, without manual steps', () => {
    const manual = aStep('h', { node: 'studio-9', class: 'manual', act: { kind: 'hands', code: 'rdma/disabled' } });
    const names = linesOf([power, model, start, manual]).map(({ name }) => name);
    expect(names).toEqual(['studio-1', 'studio-3', 'studio-2']);
  });

  it('show waiting, running and finished steps with their time', () => {
    expect(textOf('studio-1', [])).toBe('studio-1  3 steps waiting');
    expect(textOf('studio-1', [started(power)])).toBe('studio-1  power');
    const done = [power, bridge, address].map((step) => ended(step));
    expect(textOf('studio-1', done)).toMatch(/^studio-1 {2}power, thunderbolt-bridge, link-address +2\.1 s$/);
    expect(columnsOf(textOf('studio-1', done))).toBe(74);
  });

  const bytes = { doneBytes: 412e9, totalBytes: 735e9 };

  it('show transferred bytes or the current wait', () => {
    const progress: RunEvent = { kind: 'step-progress', step: model.id, node: model.node, ...bytes };
    expect(textOf('studio-3', [started(model), progress])).toBe('studio-3  model  56 %  412 GB of 735 GB');
    const waiting: RunEvent = { kind: 'step-progress', step: start.id, node: start.node, text: 'rank 2 \u001b[2J' };
    expect(textOf('studio-2', [started(start), waiting])).toBe('studio-2  placement  rank 2 \\u{1b}[2J');
  });

  it('show the progress of all transfers to the node, in the space that is left', () => {
    const rate = { bytesPerSecond: 2.9e9, msLeft: 150_000, bounds: ['uplink'] } as const;
    const progress: TransferProgress = { ...bytes, ...rate, isRunning: true, isComparing: false };
    const line = lineOf('studio-3', [started(model)], [power, model]);
    expect(lineText(line, 8, 74, progress)).toBe(
      'studio-3  412 of 735 GB  56 %  2.9 GB/s  2.5 min left  over the uplink',
    );
    expect(lineText(line, 8, 34, progress)).toBe('studio-3  412 of 735 GB');
    const stopping = lineAfter(line, { kind: 'interrupted' });
    expect(lineText(stopping, 8, 74, progress)).toContain('studio-3  stopping: 412 of 735 GB');
    expect(lineText(lineAfter(line, ended(model)), 8, 74, progress)).not.toContain('735 GB');
  });

  it('show a failure with its code', () => {
    expect(textOf('studio-3', [started(model), ended(model, 'failed')])).toBe('studio-3  model failed (ssh/dropped)');
    expect(textOf('studio-3', [ended(model, 'unknown')])).toBe('studio-3  model result unknown');
    expect(textOf('studio-3', [ended(model, 'skipped', 0)])).toBe('studio-3  not started');
    expect(textOf('studio-3', [ended(model, 'unchanged')])).toContain('unchanged');
  });

  it('show the steps done before an interrupt', () => {
    const stop: RunEvent = { kind: 'interrupted' };
    const cut = [ended(power), ended(bridge), stop, ended(address, 'interrupted', 0)];
    expect(textOf('studio-1', cut)).toBe('studio-1  power, thunderbolt-bridge; 2 of 3 steps done');
    expect(textOf('studio-1', cut.slice(0, 3))).toBe('studio-1  power, thunderbolt-bridge; 2 of 3 steps done');
    expect(textOf('studio-3', [stop])).toBe('studio-3  not started');
  });

  it('ignore manual steps', () => {
    const manual = aStep('h', { class: 'manual', act: { kind: 'hands', code: 'rdma/disabled' } });
    const events = [started(manual), ended(power), ended(bridge), ended(address)];
    const line = lineOf('studio-1', events, [power, bridge, address, manual]);
    expect(stateOf(line)).toBe('done');
  });

  it('show that a run is stopping', () => {
    expect(textOf('studio-1', [started(power), { kind: 'interrupted' }])).toBe('studio-1  stopping: power');
  });

  it('fit the page width', () => {
    expect(columnsOf(textOf('studio-1', [started(bridge)], 24))).toBeLessThanOrEqual(24);
    const done = [power, bridge, address].map((step) => ended(step));
    expect(columnsOf(textOf('studio-1', done, 30))).toBe(30);
  });

  it.each([
    ['waiting', []],
    ['running', [started(power)]],
    ['running', [ended(power)]],
    ['done', [ended(power), ended(bridge), ended(address, 'unchanged')]],
    ['failed', [ended(power), ended(bridge, 'failed'), ended(address, 'skipped')]],
    ['skipped', [ended(power), ended(bridge, 'interrupted'), ended(address)]],
  ] as const)('have the state %s', (state, events) => {
    expect(stateOf(lineOf('studio-1', events, [power, bridge, address]))).toBe(state);
  });
});

function terminal(): { readonly stream: NodeJS.WriteStream; readonly text: () => string } {
  const stream = Object.assign(new PassThrough(), { columns: 80, rows: 40, isTTY: true });
  const chunks: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  return { stream: stream as unknown as NodeJS.WriteStream, text: () => Buffer.concat(chunks).toString() };
}

/** What the view of a run with these steps and events has written. */
async function written(steps: readonly Step[], events: readonly RunEvent[], hasUnicode = false): Promise<string> {
  const { stream, text } = terminal();
  const view = showRun(steps, { stream, columns: 80, hasUnicode, hasColor: false });
  for (const event of events) view.listen(event);
  await view.end();
  return text();
}

describe("a run's view", () => {
  it('adds a line for all nodes if several receive bytes', async () => {
    const sendTo = (node: string): Step =>
      aStep(`${node}/send`, {
        node,
        act: { kind: 'send', source: 'a', to: { kind: 'node-path', path: '/a' }, sha256: anyDigest, sizeBytes: 1e9 },
      });
    const both = [sendTo('studio-1'), sendTo('studio-2')];
    const lastLines = async (sends: readonly Step[]): Promise<string> => {
      const text = await written(
        sends,
        sends.flatMap((step) => [started(step), ended(step)]),
      );
      return text.slice(text.lastIndexOf('+ studio-1'));
    };
    expect(await lastLines(both)).toMatch(/^\+ total {5}2 of 2 GB *$/m);
    expect(await lastLines(both.slice(0, 1))).not.toContain('total');
  });

  const steps = [power, bridge, model, start];
  const events = [
    started(power),
    started(model),
    ended(power),
    started(bridge),
    ended(bridge),
    ended(model, 'failed'),
    ended(start, 'skipped', 0),
  ];

  it('ends with one line for each node', async () => {
    const text = await written(steps, events, true);
    const last = text.slice(text.lastIndexOf('✔'));
    expect(last.split('\n').map((line) => line.trimEnd().replace(/ {3,}/, ' … '))).toEqual([
      '✔ studio-1  power, thunderbolt-bridge … 1.4 s',
      '✖ studio-3  model failed (ssh/dropped)',
      '↓ studio-2  not started',
      '\u001b[?25h',
    ]);
  });

  it('uses only ASCII and no color if the terminal requires it', async () => {
    const text = await written(steps, events);
    expect(text).toMatch(/\+ studio-1 {2}power/);
    expect(text).toMatch(/x studio-3 {2}model/);
    expect(text).not.toMatch(/[^\0-\x7f]/);
    expect(text).not.toMatch(/\u001b\[\d*m/);
  });

  it('does not show a running line after the run has ended early', async () => {
    const text = await written(steps, [started(power)]);
    const last = text.slice(text.lastIndexOf('- studio-1'));
    expect(last).toMatch(/^- studio-1 {2}power\s+- studio-3 {2}1 step waiting/);
  });

  it('keeps notes below its lines, once each', async () => {
    const { stream, text } = terminal();
    const view = showRun(steps, { stream, columns: 80, hasUnicode: false, hasColor: false });
    view.note('studio-1 is held by another run');
    for (const event of events) view.listen(event);
    view.note('stopping in order');
    await view.end();
    expect(text().slice(text().lastIndexOf('+ studio-1'))).toMatch(
      /^\+ studio-1 .*\s+x studio-3 .*\s+- studio-2 .*\s+> studio-1 is held by another run\s+> stopping in order\s+\u001b\[\?25h$/,
    );
  });
});

onOnePage('show-run');
