import { describe, expect, it } from 'vitest';
import { scaledTiming } from '../../../../src/apply/run-timing.ts';
import { deadlineOf } from '../../../../src/apply/steps/context.ts';
import { known } from '../../../../src/model/known.ts';
import { nodeName } from '../../../../src/model/node.ts';
import { placementFolder, rebootMarkFile, wiredBaselineFile } from '../../../../src/node/paths/own-paths.ts';
import type { SeenRank } from '../../../../src/rack/placement/mesh/rank-states.ts';
import { stopRanks } from '../../../../src/rack/placement/mesh/stop-mesh.ts';
import { until } from '../../../until.ts';
import { bootSession, ours, run, unchanged } from './mac-root.ts';
import {
  isAlive,
  isRunning,
  kick,
  processesOf,
  rankRoots,
  record,
  stop,
  stopBeforeReboot,
  vmStat,
  writes,
} from './rank-root.ts';
import { scriptShells } from './shells.ts';

const { started } = rankRoots();

/** 16 GiB, in pages and bytes. */
const usual = { pages: 1_048_576, bytes: 17_179_869_184 };

describe.concurrent.each(scriptShells)("stop-rank's signal sequence in $name", (shell) => {
  it('starts with SIGINT if configured and stops a rank that obeys it', async () => {
    const root = await started(shell, 'obeys INT');
    expect(await run(root, stop(250, 5_000))).toMatchObject({ said: ['ended=clean'] });
    expect(writes(root).filter((call) => call.startsWith('launchctl kill'))).toEqual([
      'launchctl kill SIGINT system/dev.meshwright.rank.kimi',
    ]);
  });

  it('sends SIGTERM after an ignored SIGINT', async () => {
    const root = await started(shell, 'obeys');
    expect(await run(root, stop(5_000, 250))).toMatchObject({ said: ['ended=clean'] });
    expect(writes(root).filter((call) => call.startsWith('launchctl kill'))).toEqual([
      'launchctl kill SIGINT system/dev.meshwright.rank.kimi',
      'launchctl kill SIGTERM system/dev.meshwright.rank.kimi',
    ]);
  });

  it('stores a stack sample before the kill and removes old samples', async () => {
    const root = await started(shell, 'ignores');
    await until(() => processesOf(root).length === 1);
    const log = `${ours}/log`;
    for (const name of ['sample-kimi--5.txt', 'sample-kimi-2-9.txt', 'sample-other-1.txt'])
      root.file(`${log}/${name}`, 'x');
    root.file(
      `${placementFolder('kimi').path}/record`,
      root.read(`${placementFolder('kimi').path}/record`).replace('generation=3', 'generation=7'),
    );
    root.file(`${log}/sample-kimi-3.txt`, 'old');
    root.file(`${log}/sample-kimi-4.txt`, 'kept');
    expect(await run(root, stop())).toMatchObject({ said: ['sample=sample-kimi-7.txt', 'ended=killed'] });
    expect(root.read(`${log}/sample-kimi-7.txt`)).toBe(`Analysis of sampling process ${processesOf(root)[0]}\n`);
    const there = ['3', '4', '-5', '2-9'].map((end) => root.has(`${log}/sample-kimi-${end}.txt`));
    expect([...there, root.has(`${log}/sample-other-1.txt`)]).toEqual([false, true, true, true, true]);
  });

  it("waits for at most half of its step's deadline, even on simulated Macs with fast clocks", async () => {
    const root = await started(shell, 'ignores');
    await until(() => processesOf(root).length === 1);
    root.file('../sample-hangs', '');
    root.file('../pages', String(2 * usual.pages));
    root.recorded('bin/sleep', 'exec /bin/sleep 0.01');
    const seen: SeenRank = {
      state: 'joined',
      mayRun: true,
      starts: known(1),
      budget: known({ taken: 0, limit: 3, isAssumed: true, isCounted: true }),
    };
    const node = nodeName('studio-1');
    const work = { placement: 'kimi', nodes: [node], changes: [] };
    const [step] = stopRanks(() => work, [{ node, seen }], { isAnswering: true, seconds: 0, needs: [] });
    if (step?.act.kind !== 'script' || step.act.name !== 'stop-rank') throw new Error('there is no stop');
    const before = root.started().length;
    expect(await run(root, step.act)).toMatchObject({ said: expect.arrayContaining(['ended=reboot-mark']) });
    const sleeps = root
      .started()
      .slice(before)
      .filter(({ tool }) => tool === 'bin/sleep').length;
    // SIGTERM, the sample and the wired memory: 10, 10 and 5 seconds, four checks per second.
    expect(sleeps).toBeGreaterThanOrEqual(99);
    expect(deadlineOf(step, { timing: scaledTiming(0.01) })).toBeGreaterThan(2 * 250 * sleeps);
  });

  it('kills the rank even if the sample tool hangs', async () => {
    const root = await started(shell, 'ignores');
    await until(() => processesOf(root).length === 1);
    root.file('../sample-hangs', '');
    root.tool('bin/sleep', 'exec /bin/sleep 0.01');
    expect(await run(root, stop())).toMatchObject({ said: ['ended=killed'] });
    expect(processesOf(root).filter(isAlive)).toEqual([]);
  });
});

describe.concurrent.each(scriptShells)('stop-rank before a reboot in $name', (shell) => {
  it('succeeds and reports reboot-mark if SIGKILL does not stop the rank', async () => {
    const root = await started(shell, 'obeys');
    root.tool('bin/sleep', 'exit 0');
    root.tool('bin/ps', 'printf "%s 1 %s U\\n" "$(/bin/cat "$R/../launchd/pid")" "$(/bin/cat "$R/../launchd/pid")"');
    const pid = root.read('../launchd/pid');
    expect(await run(root, stopBeforeReboot)).toMatchObject({
      kind: 'done',
      isChanged: true,
      said: expect.arrayContaining([`processes=${pid}`, 'ended=reboot-mark']),
    });
    expect(root.read(rebootMarkFile.path)).toContain(`why=kernel\nplacement=kimi\nprocesses=${pid}`);
    expect(root.has('../launchd/loaded')).toBe(true);
  });

  it('stops a rank as usual, but fails if a tool fails', async () => {
    const root = await started(shell, 'ignores');
    expect(await run(root, stopBeforeReboot)).toMatchObject({
      kind: 'done',
      said: ['sample=sample-kimi-3.txt', 'ended=killed'],
    });
    expect(await run(root, stopBeforeReboot)).toEqual(unchanged);
    await run(root, record({ generation: 4 }));
    root.tool('usr/sbin/sysctl', 'exit 1');
    expect(await run(root, stopBeforeReboot)).toMatchObject({ kind: 'failed', slug: 'sysctl' });
  });
});

describe.concurrent.each(scriptShells)('wired memory after a stop in $name', (shell) => {
  it("is compared with a baseline from before the boot session's first start", async () => {
    const root = await started(shell, 'obeys');
    const kept = `boot=${bootSession}\nwired=${usual.bytes}\n`;
    expect(root.read(wiredBaselineFile.path)).toBe(kept);
    await run(root, stop(5_000));
    root.file('../pages', '2000000');
    await run(root, record());
    await run(root, kick());
    expect(root.read(wiredBaselineFile.path)).toBe(kept);
    await run(root, stop(5_000));
  });

  it('requires a reboot before the next start if it remains high', async () => {
    const root = await started(shell, 'obeys');
    root.file('../pages', String(2 * usual.pages));
    root.tool('bin/sleep', 'exec /bin/sleep 0.05');
    const [wired, baseline] = [2 * usual.bytes, usual.bytes];
    expect(await run(root, stop(5_000))).toEqual({
      kind: 'done',
      isChanged: true,
      said: [`wired=${wired}`, `baseline=${baseline}`, 'ended=reboot-mark'],
    });
    expect(root.read(rebootMarkFile.path)).toBe(
      `boot=${bootSession}\nwhy=memory\nplacement=kimi\nwired=${wired}\nbaseline=${baseline}\n`,
    );
    expect(await run(root, record({ generation: 4 }))).toMatchObject({ kind: 'failed', slug: 'reboot-mark' });
    expect(await run(root, kick())).toMatchObject({ kind: 'failed' });
    root.tool('usr/bin/vm_stat', 'exit 1');
    expect(await run(root, record({ generation: 4 }))).toMatchObject({ kind: 'failed', slug: 'reboot-mark' });
    root.file('../boot', 'F2B1C3D4-0000-4000-8000-000000000002\n');
    root.tool('usr/bin/vm_stat', vmStat);
    expect(await run(root, record({ generation: 4 }))).toMatchObject({ isChanged: true });
    expect(await run(root, kick(4))).toMatchObject({ isChanged: true });
    await isRunning(root);
    expect(root.read(wiredBaselineFile.path)).toContain(`wired=${wired}`);
    await run(root, stop(5_000));
  });

  it('also requires a reboot if it stays high and the rank had been killed before the stop', async () => {
    const root = await started(shell, 'obeys');
    for (const pid of processesOf(root)) process.kill(pid, 'SIGKILL');
    root.file('../pages', String(2 * usual.pages));
    root.tool('bin/sleep', 'exec /bin/sleep 0.05');
    expect(await run(root, stop(5_000))).toMatchObject({ said: expect.arrayContaining(['ended=reboot-mark']) });
    expect(await run(root, record({ generation: 4 }))).toMatchObject({ kind: 'failed', slug: 'reboot-mark' });
  });

  it('clears the reboot mark if it has fallen before the next start', async () => {
    const root = await started(shell, 'obeys');
    root.file('../pages', String(2 * usual.pages));
    root.tool('bin/sleep', 'exec /bin/sleep 0.05');
    expect(await run(root, stop(5_000))).toMatchObject({ said: expect.arrayContaining(['ended=reboot-mark']) });
    const marked = root.read(rebootMarkFile.path);
    root.file('../pages', String(usual.pages));
    expect(await run(root, record({ generation: 4 }))).toMatchObject({ isChanged: true });
    expect(root.has(rebootMarkFile.path)).toBe(false);
    root.file(rebootMarkFile.path, marked);
    expect(await run(root, kick(4))).toMatchObject({ isChanged: true });
    expect(root.has(rebootMarkFile.path)).toBe(false);
    await isRunning(root);
    await run(root, stop(5_000));
    root.file(rebootMarkFile.path, `boot=${bootSession}\nwhy=kernel\nplacement=kimi\n`);
    expect(await run(root, record({ generation: 5 }))).toMatchObject({ kind: 'failed', slug: 'reboot-mark' });
  });

  it('may exceed the baseline by a tenth or 1 GiB', async () => {
    const root = await started(shell, 'obeys');
    root.file('../pages', String(Math.floor(usual.pages * 1.09)));
    expect(await run(root, stop(5_000))).toMatchObject({ said: ['ended=clean'] });
    await run(root, record({ generation: 4 }));
    await run(root, kick(4));
    await isRunning(root);
    root.file(wiredBaselineFile.path, `boot=${bootSession}\nwired=1073741824\n`);
    root.file('../pages', '120000');
    expect(await run(root, stop(5_000))).toMatchObject({ said: ['ended=clean'] });
  });

  it('is unknown without a baseline or vm_stat, or next to another placement', async () => {
    const root = await started(shell, 'obeys');
    const again = async (generation: number): Promise<void> => {
      await run(root, record({ generation }));
      await run(root, kick(generation));
      await isRunning(root);
    };
    root.file(wiredBaselineFile.path, 'boot=another\nwired=1\n');
    expect(await run(root, stop(5_000))).toMatchObject({
      said: ['memory=unknown (not measured before the first start of this boot session)', 'ended=unknown'],
    });
    await again(4);
    root.file(wiredBaselineFile.path, `boot=${bootSession}\nwired=1\n`);
    root.tool('usr/bin/vm_stat', 'exit 1');
    expect(await run(root, stop(5_000))).toMatchObject({
      said: ['memory=unknown (vm_stat does not say it)', 'ended=unknown'],
    });
    await again(5);
    const start = (await root.runBody(`"$R/bin/ps" -o lstart= -p ${process.pid}\nchanged`)).stdout.split('\n')[0];
    root.file(`${placementFolder('other').path}/process`, `boot=${bootSession}\npid=${process.pid}\nstart=${start}\n`);
    expect(await run(root, stop(5_000))).toMatchObject({
      said: ['memory=unknown (another placement runs here)', 'ended=unknown'],
    });
    expect(await run(root, stop())).toEqual(unchanged);
  });
});
