import { createHash } from 'node:crypto';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { RunReport } from '../../src/apply/open-run.ts';
import type { RunEvent } from '../../src/apply/run-events.ts';
import { folderSource, readNodeShape, readShape } from '../../src/cli/sources/read-shapes.ts';
import { shortDigest } from '../../src/model/digest.ts';
import { shared } from '../rack/kept-running.ts';
import { wayTo } from '../rack/running.ts';
import { type FileValue, filePart, first, pairFile, second } from './converge-file.ts';
import { expectNothingOld } from './converge-leftovers.ts';
import { type Applied, patience, startConvergeRack } from './converge-rack.ts';
import { type CuttingProxy, startCuttingProxy } from './cutting-proxy.ts';
import { keepersAtRest } from './keepers-at-rest.ts';

const rack = shared(() => startConvergeRack('failures'));
beforeAll(async () => {
  await rack.converge();
}, patience);

const proxies: CuttingProxy[] = [];
afterEach(async () => {
  await Promise.all(proxies.splice(0).map((proxy) => proxy.stop()));
});

const rootOf = (node: string): string => rack.fleet().nodes[node]?.root ?? '';
/** Neither target matches the file, because the placement is on both. */
const failed = 1;
const weights = 'model-00001-of-00002.safetensors';

/** Declares the file with a different source for its model. */
async function declareModel(model: FileValue): Promise<void> {
  const file = pairFile((value) => {
    filePart(value, 'models')['tiny'] = model;
  });
  expect(await rack.declare(file)).toEqual([]);
}

/** True if the desired version of the model is on a node, completely or in part. */
function isPublished(node: string): boolean {
  const [model] = rack.desired().models;
  const version = model?.digest === undefined ? '' : shortDigest(model.digest);
  return existsSync(join(rootOf(node), 'opt/meshwright/models/tiny', version));
}

/** SSH targets; the test can cut that of the second node. */
async function proxied() {
  const proxy = await startCuttingProxy(rack.fleet().nodes[second]?.port ?? 0);
  proxies.push(proxy);
  return { proxy, ways: [wayTo(rack.fleet(), first), wayTo(rack.fleet(), second, { port: proxy.port })] };
}

/** Calls `act` when the first matching step of the second node starts. */
function atStep(pattern: RegExp, act: () => void): (event: RunEvent) => void {
  let isDone = false;
  return (event) => {
    if (isDone || event.kind !== 'step-started' || !JSON.stringify(event).includes(`${second}/`)) return;
    if (!pattern.test(JSON.stringify(event))) return;
    isDone = true;
    act();
  };
}

/** The state of a Mac after a run that changed its network and died before its confirmation. */
async function armRollback(node: string): Promise<void> {
  const pending = join(rootOf(node), 'Library/Application Support/meshwright/transaction/pending');
  await mkdir(pending, { recursive: true });
  await writeFile(join(pending, 'restore'), 'exit 0\n');
  await writeFile(join(pending, 'about'), 'run=r-left\ntoken=1\nstep=set\nby=ana@desk\n');
}

const codes = (report: RunReport | undefined): readonly string[] => [
  ...new Set(report?.diagnostics.map(({ code }) => code) ?? []),
];

/** The first node got its model, the second one nothing, and the serving mesh was not touched. */
async function expectHalf({ report, plan, exit }: Applied): Promise<void> {
  expect(plan.changes.map(({ id }) => id)).toContain(`${second} model/tiny`);
  const outcomes = new Map(report?.steps.map(({ step, outcome }) => [String(step.id), outcome]));
  expect(outcomes.get(`${first}/model/tiny/gate`)).toBe('unchanged');
  expect(outcomes.get(`${second}/model/tiny/gate`)).toBe('skipped');
  expect([isPublished(first), isPublished(second)]).toEqual([true, false]);
  expect(exit).toBe(4);
  await keepersAtRest(rack.fleet());
  expect(rack.fleet().processes()).toHaveLength(2);
}

describe('apply', { timeout: patience }, () => {
  // The tests continue on one rack in this order, so most of them do not run alone.
  it('skips the remaining steps of a node that vanishes, and continues when the node is back', async () => {
    await declareModel({ source: './models/newer' });
    const { proxy, ways } = await proxied();
    const half = await rack.apply({ ways, onEvent: atStep(/model\/tiny\/send/, () => void proxy.vanish()) });
    await expectHalf(half);
    expect(codes(half.report).every((code) => code.startsWith('ssh/'))).toBe(true);
    await rack.converge();
    expectNothingOld(rack);
  });

  it('reconnects and completes if its connection drops during a command', async () => {
    await declareModel({ source: './models/large' });
    const { proxy, ways } = await proxied();
    const cut = new Set<string>();
    let begun: string | undefined;
    const cutOnce = (step: string | undefined): void => {
      if (step === undefined || cut.has(step)) return;
      cut.add(step);
      proxy.cut();
    };
    // The cut comes after the last byte of a script arrived: the controller gets no answer.
    const end = rack.fleet().onExec(({ node, input }) => {
      if (node === second && begun !== 'send' && !input.includes('@renewed')) cutOnce(begun);
    });
    await rack.converge({
      ways,
      onEvent: (event) => {
        const text = JSON.stringify(event);
        const [, step] = /model\/tiny\/(prepare|send|verify|publish)/.exec(text) ?? [];
        if (!text.includes(`${second}/`)) return;
        if (event.kind === 'step-started') begun = step;
        // The first part of the file is in transit.
        if (event.kind === 'step-progress' && step === 'send') cutOnce(step);
      },
    });
    end();
    expect([...cut].sort()).toEqual(['prepare', 'publish', 'send', 'verify']);
    expect(proxy.counts.connections).toBeGreaterThan(2);
    expectNothingOld(rack);
  });

  it('does not exit with 0 while a network rollback is armed, even if every step succeeded', async () => {
    await rack.behindOurBack((fleet) => fleet.setFault(['power-wrong', first]));
    // This runs after the last step and before the last observation.
    const end = rack.fleet().onExec(async ({ node, input }) => {
      if (node === first && input.includes('@released')) await armRollback(first);
    });
    const { report, after, exit } = await rack.apply();
    end();
    expect([report?.steps.filter(({ outcome }) => outcome === 'failed'), codes(report)]).toEqual([[], []]);
    expect(after.steps.map(({ id }) => id)).toEqual([`${first}/transaction/settle`]);
    expect(exit).toBe(4);
    expect((await rack.converge()).exit).toBe(0);
  });

  it('does not publish a model on a full disk, and continues when there is space', async () => {
    await declareModel({ source: './models/newer' });
    await rack.converge();
    await rack.behindOurBack(async () => {
      for (const node of [first, second]) await rack.asRoot(node, 'rm -rf "$R/opt/meshwright/models/tiny"');
    });
    await declareModel({ source: './models/large' });
    const full = (): void => writeFileSync(join(rootOf(second), '.sim/room'), '65536\n');
    const half = await rack.apply({ onEvent: atStep(/model\/tiny\/prepare/, full) });
    expect([isPublished(first), isPublished(second), half.exit]).toEqual([true, false, failed]);
    expect(codes(half.report)).toEqual(['step/disk-full']);
    await rack.behindOurBack(async (fleet) => {
      await fleet.setFault(['disk-full', second]);
      await fleet.clearFault([]);
    });
    await rack.converge();
    expectNothingOld(rack);
  });

  it('does not publish a model with a wrong digest, and continues when the file is right', async () => {
    const source = join(rack.folder, 'models/newer');
    const files = readdirSync(source).map(async (name) => {
      const bytes = await readFile(join(source, name));
      return [name, { sha256: createHash('sha256').update(bytes).digest('hex'), size: bytes.length }] as const;
    });
    for (const node of [first, second]) {
      await mkdir(join(rootOf(node), 'Volumes'), { recursive: true });
      await cp(source, join(rootOf(node), 'Volumes/stock'), { recursive: true });
    }
    const there = join(rootOf(second), 'Volumes/stock', weights);
    const right = await readFile(there);
    await writeFile(there, Buffer.from(right.map((byte, at) => (at === 100 ? byte ^ 1 : byte))));
    await rack.behindOurBack(async () => {
      for (const node of [first, second]) await rack.asRoot(node, 'rm -rf "$R/opt/meshwright/models/tiny"');
    });
    await declareModel({ source: 'node:/Volumes/stock', files: Object.fromEntries(await Promise.all(files)) });
    const half = await rack.apply();
    expect([isPublished(first), isPublished(second), half.exit]).toEqual([true, false, failed]);
    expect(codes(half.report)).toEqual(['step/wrong-digest']);
    await writeFile(there, right);
    await rack.converge();
    expectNothingOld(rack);
    const [model] = rack.desired().models;
    if (model === undefined) throw new Error('the file has no model');
    // The first node is unreachable. The reading of the second equals that of the same files on this computer.
    const ways = [wayTo(rack.fleet(), first, { port: 1 }), wayTo(rack.fleet(), second)];
    const here = await readShape(
      folderSource(source),
      model.files.map(({ path }) => path),
    );
    expect(await readNodeShape(ways, model, { deadlineMs: 20_000 })).toEqual(
      here.kind === 'known' ? here : { ...here, why: `${here.why} on ${second}` },
    );
  });
});
