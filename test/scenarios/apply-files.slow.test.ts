import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { RunOptions, RunReport } from '../../src/apply/open-run.ts';
import type { RunEvent } from '../../src/apply/run-events.ts';
import { type Digest, digest } from '../../src/model/digest.ts';
import type { TreeId } from '../../src/model/node-script.ts';
import { type Step, stepId } from '../../src/model/step.ts';
import { jobFolder, stagedFile } from '../../src/node/paths/own-paths.ts';
import { shared } from '../rack/kept-running.ts';
import { aStep } from '../rack/plans.ts';
import { eventually } from '../rack/running.ts';
import { asText } from '../unit/as-text.ts';
import { planOf, runOptions, startApplyRack } from './apply-rack.ts';
import { type CuttingProxy, startCuttingProxy } from './cutting-proxy.ts';
import { runPlan } from './run-plan.ts';

const node = 'studio-1';
const fileBytes = 6 * 1024 * 1024;

const rack = shared(() => startApplyRack('files'));
let proxy: CuttingProxy;
beforeAll(async () => {
  proxy = await startCuttingProxy(rack.fleet.nodes[node]?.port ?? 0);
});
afterAll(() => proxy.stop());

afterEach(() => proxy.cut());

const sha256 = (bytes: Uint8Array): Digest => digest(createHash('sha256').update(bytes).digest('hex'));

/** A model of one file, on the controller. */
interface Model {
  readonly tree: TreeId;
  readonly source: string;
  readonly bytes: Buffer;
  /** The path of the staged file on this computer. */
  readonly staged: string;
}

let count = 0;
function aModel(bytes = randomBytes(fileBytes)): Model {
  count += 1;
  const name = `model-${count}`;
  const source = join(rack.folder, name);
  writeFileSync(source, bytes);
  const tree: TreeId = { kind: 'model', name, digest: sha256(bytes) };
  return { tree, source, bytes, staged: onNode(stagedFile(tree, 'weights').path) };
}

const user = (): string => rack.fleet.nodes[node]?.user ?? '';
const prepare = ({ tree }: Model): Step =>
  aStep('prepare', { node, act: { kind: 'script', name: 'prepare-staging', args: { tree, user: user() } } });
const send = ({ tree, source, bytes }: Model, wanted = sha256(bytes)): Step =>
  aStep('send', {
    node,
    needs: ['prepare'],
    act: { kind: 'send', source, to: stagedFile(tree, 'weights'), sha256: wanted, sizeBytes: bytes.length },
  });
const verify = ({ tree, bytes }: Model, wanted = sha256(bytes)): Step =>
  aStep('verify', {
    node,
    class: 'job',
    needs: ['send'],
    act: {
      kind: 'job',
      key: digest(createHash('sha256').update(tree.name).digest('hex')),
      name: 'verify-model',
      args: { tree, files: [{ path: 'weights', sha256: wanted, sizeBytes: bytes.length }] },
    },
  });

const run = (
  steps: readonly Step[],
  more: Partial<RunOptions> & { readonly events?: RunEvent[] } = {},
): Promise<RunReport> =>
  runPlan(
    planOf(steps),
    runOptions(rack, {
      ways: rack.desired.nodes.map(({ name }) => rack.way(name, name === node ? proxy : {})),
      ...more,
    }),
  );
const outcomes = ({ steps }: RunReport): readonly string[] => steps.map(({ step, outcome }) => `${step.id} ${outcome}`);
const codes = ({ diagnostics }: RunReport): readonly string[] => diagnostics.map(({ code }) => code);

describe('sending a file', () => {
  it('copies the whole file once and skips it in the next run', async () => {
    const model = aModel();
    const events: RunEvent[] = [];
    expect(outcomes(await run([prepare(model), send(model)], { events }))).toEqual(['prepare changed', 'send changed']);
    expect(sha256(readFileSync(model.staged))).toBe(sha256(model.bytes));
    expect(events.filter(({ kind }) => kind === 'step-progress')).toContainEqual(
      expect.objectContaining({ step: stepId('send'), totalBytes: fileBytes }),
    );
    expect(outcomes(await run([prepare(model), send(model)]))[1]).toBe('send unchanged');
  });

  it('creates an empty file', async () => {
    const model = aModel(Buffer.alloc(0));
    expect(outcomes(await run([prepare(model), send(model)]))[1]).toBe('send changed');
    expect(statSync(model.staged).size).toBe(0);
  });

  it('continues after the part already on the node if that part matches', async () => {
    const model = aModel();
    await run([prepare(model), send(model)]);
    truncateSync(model.staged, fileBytes / 2);
    const sent: number[] = [];
    const events: RunEvent[] = [];
    await run([prepare(model), send(model)], { events });
    for (const event of events) if (event.kind === 'step-progress') sent.push(event.doneBytes ?? 0);
    expect(Math.min(...sent)).toBe(fileBytes / 2);
    expect(events).toContainEqual(expect.objectContaining({ keptBytes: fileBytes / 2 }));
    expect(sha256(readFileSync(model.staged))).toBe(sha256(model.bytes));
  });

  it.each([
    ['another beginning', (bytes: Buffer) => Buffer.concat([Buffer.from('other'), bytes.subarray(0, 1_000)])],
    ['too much', (bytes: Buffer) => Buffer.concat([bytes, Buffer.from('more')])],
  ])('replaces a staged file that has %s', async (_name, damage) => {
    const model = aModel();
    await run([prepare(model)]);
    writeFileSync(model.staged, damage(model.bytes));
    expect(outcomes(await run([prepare(model), send(model)]))[1]).toBe('send changed');
    expect(sha256(readFileSync(model.staged))).toBe(sha256(model.bytes));
  });

  it('continues when the connection drops midway', async () => {
    const model = aModel();
    let isCut = false;
    const report = await runPlan(planOf([prepare(model), send(model)]), {
      ...runOptions(rack, { ways: [rack.way(node, proxy)] }),
      onEvent: (event) => {
        if (isCut || event.kind !== 'step-progress') return;
        isCut = true;
        proxy.cut();
      },
    });
    expect([isCut, outcomes(report)[1], codes(report)]).toEqual([true, 'send changed', []]);
    expect(sha256(readFileSync(model.staged))).toBe(sha256(model.bytes));
  });

  it('stops midway when the run is interrupted', async () => {
    const model = aModel();
    const person = new AbortController();
    const report = await runPlan(planOf([prepare(model), send(model)]), {
      ...runOptions(rack, { ways: [rack.way(node, proxy)], signal: person.signal }),
      onEvent: ({ kind }) => {
        if (kind === 'step-progress') person.abort();
      },
    });
    expect(outcomes(report)[1]).toBe('send interrupted');
    // Bytes in transit may still be written.
    const there = readFileSync(model.staged);
    expect(model.bytes.subarray(0, there.length).equals(there)).toBe(true);
  });

  it('refuses a source file that differs from the lock', async () => {
    const model = aModel();
    const report = await run([prepare(model), send(model, sha256(Buffer.from('locked')))]);
    expect([outcomes(report)[1], codes(report)]).toEqual(['send failed', ['send/source-changed']]);
    const shorter = aModel();
    writeFileSync(shorter.source, 'short');
    expect(codes(await run([prepare(shorter), send(shorter)]))).toEqual(['send/source-changed']);
    expect(codes(await run([prepare(shorter), send({ ...shorter, source: `${shorter.source}.gone` })]))).toEqual([
      'send/source-unreadable',
    ]);
  });
});

const onNode = (path: string): string => `${rack.fleet.nodes[node]?.root}${path}`;

/** Makes a tool of the node wait until the returned function is called. */
function holdTool(path: string): () => void {
  const [tool, gate] = [onNode(path), join(rack.folder, 'gate')];
  const wait = `#!/bin/sh\nuntil [ -e '${gate}' ]; do /bin/sleep 0.02; done\n`;
  writeFileSync(tool, `${wait}${readFileSync(tool, 'utf8')}`);
  return () => writeFileSync(gate, '');
}

describe('a job', () => {
  it('runs to completion once, and counts as done in the next run', async () => {
    const model = aModel();
    const steps = [prepare(model), send(model), verify(model)];
    expect(outcomes(await run(steps))).toEqual(['prepare changed', 'send changed', 'verify changed']);
    expect(outcomes(await run(steps))).toEqual(['prepare unchanged', 'send unchanged', 'verify unchanged']);
  });

  it('reports its failure as a diagnostic with the reason', async () => {
    const model = aModel();
    const wrong = sha256(Buffer.from('another file'));
    const report = await run([prepare(model), send(model), verify(model, wrong)]);
    expect([outcomes(report)[2], codes(report)]).toEqual(['verify failed', ['step/wrong-digest']]);
    expect(report.diagnostics.map(asText)[0]?.detail).toContain('weights');
  });

  it('continues while no run is connected, and the next run finds it', async () => {
    const model = aModel(Buffer.from('weights'));
    await run([prepare(model)]);
    writeFileSync(model.staged, model.bytes);
    const go = holdTool('/sbin/sha256sum');
    const person = new AbortController();
    const step = { ...verify(model), needs: [] };
    const first = await runPlan(planOf([step]), {
      ...runOptions(rack, { signal: person.signal }),
      onEvent: ({ kind }) => {
        if (kind === 'step-progress') person.abort();
      },
    });
    expect(outcomes(first)).toEqual(['verify interrupted']);
    if (step.act.kind !== 'job') throw new Error('the step is not a job');
    const ended = onNode(`${jobFolder(step.act.key).path}/rc`);
    expect(existsSync(ended)).toBe(false);
    go();
    expect(await eventually(() => existsSync(ended))).toBe(true);
    expect(outcomes(await run([step]))).toEqual(['verify unchanged']);
  });
});
