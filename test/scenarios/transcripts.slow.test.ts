import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { NodeTarget } from '../../src/apply/reach/session.ts';
import type { RunTiming } from '../../src/apply/run-timing.ts';
import type { ClusterLock } from '../../src/model/cluster-lock.ts';
import { nodeName } from '../../src/model/node.ts';
import type { Goal } from '../../src/rack/goal.ts';
import { doubleText } from '../../src/sim/doubles/double-files.ts';
import { tarGz } from '../../src/sim/doubles/tar-gz.ts';
import { inTurn } from '../in-turn.ts';
import type { RunningRack } from '../rack/running.ts';
import { writeIndexedModel, writeTinyGguf } from '../tiny-models.ts';
import { planOf, quickTiming, runOptions, startApplyRack } from './apply-rack.ts';
import { cuttingProxies } from './apply-steps.ts';
import { type FileValue, filePart, first, pairFile, second } from './converge-file.ts';
import { type ApplyOptions, type ConvergeRack, patience, startConvergeRack } from './converge-rack.ts';
import { writeExoImage } from './exo-doubles.ts';
import { keepersAtRest } from './keepers-at-rest.ts';
import { publish } from './published-sources.ts';
import { runPlan } from './run-plan.ts';
import {
  addressChange,
  beginChange,
  isChange,
  isSettled,
  observeMs,
  shortRollback,
  transaction,
} from './transaction-steps.ts';
import { recordedRun } from './transcripts/recorded-run.ts';

const expectGolden = async (name: string, parts: readonly string[]): Promise<void> =>
  expect(parts.join('\n')).toMatchFileSnapshot(`../cases/transcripts/${name}.txt`);

/** One apply of a rack: its title in the transcript, and its options. */
type Apply = readonly [title: string, options?: ApplyOptions];

/** Records several applies and compares their transcript. */
async function expectTranscript(rack: ConvergeRack, name: string, applies: readonly Apply[]): Promise<void> {
  const parts: string[] = [];
  for (const [title, options] of applies) {
    await keepersAtRest(rack.fleet());
    const run = async (listener: Parameters<ConvergeRack['listen']>[0]) => {
      rack.listen(listener);
      const { plan, report } = await rack.apply(options);
      rack.listen();
      return { plan, report };
    };
    parts.push(await recordedRun({ title, fleet: rack.fleet(), folder: rack.folder, run }));
  }
  await expectGolden(name, parts);
}

const goal = (one: Goal): Apply => [one.kind, { goal: one }];
const declare = async (rack: ConvergeRack, file: FileValue): Promise<void> =>
  expect(await rack.declare(file)).toEqual([]);

const nodes = [first, second].map(nodeName);
const placements = ['chat'];

inTurn(0, 3)('the commands that nodes receive', { timeout: patience }, () => {
  let rack: ConvergeRack;
  const file = (change: (file: FileValue) => void = () => undefined): FileValue =>
    pairFile((value) => {
      publish(value);
      change(value);
    });

  beforeAll(async () => {
    rack = await startConvergeRack('transcripts', file());
    await rack.behindOurBack(async (fleet) => {
      for (const node of [first, second]) {
        for (const fault of ['power-wrong', 'bridge-active', 'dhcp-reset']) await fleet.setFault([fault, node]);
        await rack.asRoot(node, '"$R/usr/sbin/sysctl" iogpu.wired_limit_mb=0');
      }
    });
  }, patience);
  afterAll(() => rack.stop());

  it('match the golden file for a first apply', () => expectTranscript(rack, 'first-apply', [['apply']]));

  it('match the golden file for an apply with nothing to do', () =>
    expectTranscript(rack, 'second-apply', [['apply']]));

  it('match the golden file for edited settings', async () => {
    await declare(
      rack,
      file((value) => {
        filePart(value, 'power')['sleep'] = 30;
        filePart(value, 'placements', 'chat')['context'] = '4k';
      }),
    );
    await expectTranscript(rack, 'edited-settings', [['apply']]);
  });

  it('match the golden file for a placement restart', () =>
    expectTranscript(rack, 'restarted-placement', [
      goal({ kind: 'stop', placements, back: placements }),
      goal({ kind: 'start', placements }),
    ]));

  it('match the golden file for a drain, a stop and a start', () =>
    expectTranscript(rack, 'drained-placement', [
      goal({ kind: 'drain', placements, waitMs: 10_000 }),
      goal({ kind: 'stop', placements }),
      goal({ kind: 'start', placements }),
    ]));

  it('match the golden file for a runtime rollback', async () => {
    const version = () => rack.desired().runtimes[0]?.digest;
    const older = version();
    const newer = file((value) => {
      filePart(value, 'runtimes', 'reference')['archive'] = './dist/newer.tar.gz';
    });
    await declare(rack, newer);
    await rack.converge();
    const from = version();
    if (older === undefined || from === undefined || older === from)
      throw new Error('the node does not have two versions');
    rack.relock((lock): ClusterLock => ({ ...lock, rolledBack: { reference: { from, to: older } } }));
    await declare(rack, newer);
    const only = ['runtime', 'placement'] as const;
    await expectTranscript(rack, 'rolled-back-runtime', [['rollback', { goal: { kind: 'converge', only } }]]);
  });

  it('match the golden file for a Mac restart', () =>
    expectTranscript(rack, 'rebooted-node', [
      goal({ kind: 'reboot', nodes: nodes.slice(1), back: placements }),
      ['apply'],
    ]));

  it('match the golden file for an uninstall', () =>
    expectTranscript(rack, 'uninstalled-nodes', [
      goal({ kind: 'uninstall', nodes, placements: [], restore: true, models: true }),
    ]));
});

/** Records the first start of a placement on a different runtime. */
async function expectFirstStart(name: string, file: FileValue, write: (folder: string) => Promise<void>) {
  const rack = await startConvergeRack(name, pairFile());
  try {
    await write(rack.folder);
    await declare(rack, file);
    await expectTranscript(rack, name, [['apply']]);
    await keepersAtRest(rack.fleet());
    expect(rack.fleet().processes()).toHaveLength(2);
  } finally {
    await rack.stop();
  }
}

inTurn(1, 3)('the commands of a first start', { timeout: patience }, () => {
  it('match the golden file for exo over RDMA', () => {
    const file = pairFile((value) => {
      value['runtimes'] = { exo: { driver: 'exo', archive: './dist/exo-main.dmg', version: '1.0.72' } };
      value['models'] = { tiny: { source: './models/indexed', repository: 'acme/indexed' } };
      const chat = filePart(value, 'placements', 'chat');
      Object.assign(chat, { runtime: 'exo', transport: 'rdma', expect: { firstToken: '4s' } });
    });
    return expectFirstStart('started-exo', file, async (folder) => {
      await writeExoImage(join(folder, 'dist/exo-main.dmg'), 'main');
      await writeIndexedModel(join(folder, 'models/indexed'));
    });
  });

  it('match the golden file for llama.cpp', () => {
    const llamacpp = {
      driver: 'llamacpp-rpc',
      archive: './dist/llama-b9000-bin-macos-arm64.tar.gz',
      server: 'llama-b9000/llama-server',
      worker: 'llama-b9000/ggml-rpc-server',
    };
    const file = pairFile((value) => {
      Object.assign(value, { runtimes: { llamacpp }, models: { tiny: { source: './models/gguf' } } });
      Object.assign(filePart(value, 'placements', 'chat'), {
        ...{ runtime: 'llamacpp', sharding: 'pipeline', context: 512, transport: 'rdma' },
      });
    });
    return expectFirstStart('started-llamacpp', file, async (folder) => {
      const content = Buffer.from(doubleText('llamacpp/llama.pl'));
      const programs = ['llama-server', 'ggml-rpc-server'].map((name) => `llama-b9000/${name}`);
      const archive = tarGz(programs.map((path) => ({ path, mode: 0o755, content })));
      await writeFile(join(folder, 'dist/llama-b9000-bin-macos-arm64.tar.gz'), archive);
      await writeTinyGguf(join(folder, 'models/gguf/tiny.gguf'));
    });
  });
});

inTurn(2, 3)('the commands of a network change', { timeout: patience }, () => {
  const proxied = cuttingProxies();
  let rack: RunningRack;
  beforeAll(async () => {
    rack = await startApplyRack('transcripts of transactions');
  }, patience);
  afterAll(() => rack.stop());

  const node = 'studio-1';
  const call = addressChange('10.77.0.9');
  const change = (title: string, timing: RunTiming, ways: readonly NodeTarget[]) =>
    recordedRun({
      title,
      fleet: rack.fleet,
      folder: rack.folder,
      run: async (onRemote) => {
        const plan = planOf([transaction('change', node, call)]);
        const options = runOptions(rack, { ways, timing, deadlineMs: observeMs, leaseWaitMs: 60_000, onRemote });
        return { plan, report: await runPlan(plan, options) };
      },
    });

  it('match the golden file for a change that is cut off, rolled back and repeated', async () => {
    await beginChange(rack, node, call);
    const { proxy, ways } = await proxied(rack, node);
    const stop = rack.fleet.onExec(async ({ input }) => {
      if (isChange(input)) await proxy.vanish();
    });
    const cut = await change('cut off', shortRollback, ways);
    stop();
    expect(await isSettled(rack, node)).toBe(true);
    const straight = rack.desired.nodes.map(({ name }) => rack.way(name));
    await expectGolden('cut-off-network', [cut, await change('again', quickTiming, straight)]);
  });
});
