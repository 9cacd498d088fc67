import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type WatchOptions, watchFleet } from '../../src/cli/look/cables.ts';
import { cableFacts, cableWork } from '../../src/engine/cables/cable-work.ts';
import { diagnoseFleet } from '../../src/engine/diagnose/diagnose-fleet.ts';
import { factNames } from '../../src/engine/observe/facts.ts';
import { nodeSubject, subjectText } from '../../src/model/subject.ts';
import type { FleetObservation } from '../../src/rack/examination.ts';
import { startDelayingProxy } from '../proxy/delaying-proxy.ts';
import { shared } from '../rack/kept-running.ts';
import { eventually } from '../rack/running.ts';
import { asText } from '../unit/as-text.ts';
import { observe, startExampleRack } from './observe-rack.ts';

const rack = shared(() => startExampleRack());

const watched = (changes: Partial<WatchOptions> = {}, ports: Readonly<Record<string, number>> = {}) =>
  watchFleet(
    rack.names.map((name) => rack.way(name, ports[name] === undefined ? {} : { port: ports[name] })),
    {
      parallel: 4,
      deadlineMs: 30_000,
      newBoundary: () => randomBytes(16).toString('hex'),
      facts: cableFacts,
      often: ['thunderbolt'],
      retryMs: 20,
      patienceMs: 10_000,
      ...changes,
    },
  );

/** Counts each node's connections and commands since this call. */
function counter(): () => readonly (readonly [number, number])[] {
  const before = rack.fleet.counts();
  return () =>
    rack.names.map((name) => {
      const [now, then] = [rack.fleet.counts()[name], before[name]];
      return [(now?.connections ?? 0) - (then?.connections ?? 0), (now?.execs ?? 0) - (then?.execs ?? 0)];
    });
}

const known = ({ nodes }: FleetObservation, node: string): readonly string[] =>
  Object.entries(nodes[node]?.facts ?? {}).flatMap(([name, fact]) => (fact.kind === 'known' ? [name] : []));

describe('a watched fleet', () => {
  it('needs only one connection per node, and one command per observation, while cables move', async () => {
    const count = counter();
    const fleet = watched();
    const moves: string[] = [];
    for (const act of [
      [],
      ['unplug', 'studio-2:2'],
      ['plug', 'studio-2:5', 'studio-1:2'],
      ['move', 'studio-2:5', 'studio-2:2'],
    ]) {
      if (act.length > 0) expect(await rack.fleet.act(act)).toMatchObject({ kind: 'done' });
      const observation = await fleet.observe(moves.length === 0 ? 'whole' : 'often');
      moves.push(
        cableWork(rack.desired, observation)
          .acts.map(({ kind }) => kind)
          .join(' '),
      );
    }
    fleet.close();
    expect(moves).toEqual(['', 'add-cable', 'move-end', '']);
    expect(count()).toEqual(rack.names.map(() => [1, 4]));
  });

  it('keeps facts from a full observation when a later observation asks for fewer facts', async () => {
    const fleet = watched();
    const whole = await fleet.observe('whole');
    const often = await fleet.observe('often');
    fleet.close();
    expect(known(whole, 'studio-2')).toEqual(expect.arrayContaining([...cableFacts]));
    expect(known(often, 'studio-2')).toEqual(known(whole, 'studio-2'));
    expect(known(whole, 'studio-2')).not.toContain('rdma-devices');
  });

  it('is never asked for RDMA devices, and never sent a command that its Macs do not know', async () => {
    const fleet = watched();
    await fleet.observe('whole');
    await fleet.observe('often');
    fleet.close();
    expect(rack.fleet.execs().flatMap(({ objections }) => objections)).toEqual([]);
    expect(Object.values(await rack.fleet.unknown()).flat()).toEqual([]);
  });

  it('is not delayed by a lost node, and reconnects to it', async () => {
    const fleet = watched();
    await fleet.observe('whole');
    await rack.fleet.cutPower('studio-4');
    const without = await fleet.observe('whole');
    expect(Object.keys(without.failures)).toEqual(['studio-4']);
    expect(known(without, 'studio-4')).toEqual([]);
    const count = counter();
    expect((await fleet.observe('often')).failures['studio-4']).toBeDefined();
    expect(count().slice(0, 3)).toEqual([
      [0, 1],
      [0, 1],
      [0, 1],
    ]);
    await rack.fleet.powerOn('studio-4');
    expect(await eventually(async () => Object.keys((await fleet.observe('often')).failures).length === 0)).toBe(true);
    expect(known(await fleet.observe('often'), 'studio-4')).toEqual(expect.arrayContaining([...cableFacts]));
    fleet.close();
  });

  it('reports a Mac with Remote Login off as long as its connection is open', async () => {
    const fleet = watched({ facts: factNames });
    const found = async () =>
      diagnoseFleet(rack.desired, await fleet.observe('whole')).map(
        ({ code, subject }) => `${code} ${subjectText(subject)}`,
      );
    // A Mac without power loses its wired limit, and this rack has no keeper.
    const before = await found();
    await rack.fleet.setFault(['remote-login-off', 'studio-4']);
    const count = counter();
    expect((await found()).filter((one) => !before.includes(one))).toEqual(['sharing/remote-login-off node studio-4']);
    expect(count().map(([connections]) => connections)).toEqual([0, 0, 0, 0]);
    fleet.close();
    const { failures } = await observe(rack.names.map((name) => rack.way(name)));
    expect(Object.values(failures).flat()).toMatchObject([{ code: 'ssh/refused', subject: nodeSubject('studio-4') }]);
    await rack.fleet.clearFault([]);
    expect((await observe([rack.way('studio-4')])).failures).toEqual({});
  });

  it('waits only a little longer for a silent node than for the others, and reconnects to it', async () => {
    const proxy = await startDelayingProxy({ targetPort: rack.fleet.nodes['studio-3']?.port ?? 0 });
    // Far less than the deadline, and more than the difference between nodes on a busy machine.
    const fleet = watched({ patienceMs: 6_000, deadlineMs: 24_000 }, { 'studio-3': proxy.port });
    expect((await fleet.observe('whole')).failures).toEqual({});
    proxy.freeze();
    const count = counter();
    const without = await fleet.observe('often');
    // The detail shows that the node was given up before its deadline.
    expect(Object.values(without.failures).flat().map(asText)).toMatchObject([
      {
        code: 'ssh/timed-out',
        subject: nodeSubject('studio-3'),
        detail: 'studio-3 stopped answering, while other nodes answer.',
      },
    ]);
    expect([known(without, 'studio-3'), known(without, 'studio-2').length > 0]).toEqual([[], true]);
    await fleet.observe('often');
    expect(count().map(([, execs]) => execs)).toEqual([2, 2, 0, 2]);
    // After the deadline, the node is tried again over a new connection, without the black hole.
    expect(await eventually(async () => Object.keys((await fleet.observe('often')).failures).length === 0)).toBe(true);
    expect(known(await fleet.observe('often'), 'studio-3')).toEqual(expect.arrayContaining([...cableFacts]));
    fleet.close();
    await proxy.stop();
  });

  it('does not count a node as silent before its observation starts', async () => {
    const proxy = await startDelayingProxy({ targetPort: rack.fleet.nodes['studio-2']?.port ?? 0 });
    const fleet = watched({ parallel: 1, patienceMs: 5_000, deadlineMs: 10_000 }, { 'studio-2': proxy.port });
    expect((await fleet.observe('whole')).failures).toEqual({});
    proxy.freeze();
    expect(Object.keys((await fleet.observe('often')).failures)).toEqual(['studio-2']);
    fleet.close();
    await proxy.stop();
  });

  it('does not repeatedly lose a slow but healthy node', async () => {
    const proxy = await startDelayingProxy({ targetPort: rack.fleet.nodes['studio-3']?.port ?? 0, oneWayMs: 600 });
    // Every node then has the time of two such observations, which is enough even for a busy machine.
    const fleet = watched({ patienceMs: 50 }, { 'studio-3': proxy.port });
    const lost = async () => Object.keys((await fleet.observe('often')).failures);
    expect(await eventually(async () => (await lost()).length === 0)).toBe(true);
    expect([await lost(), await lost(), await lost()]).toEqual([[], [], []]);
    fleet.close();
    await proxy.stop();
  });

  it('closes every connection when it is interrupted', async () => {
    const controller = new AbortController();
    const fleet = watched({ signal: controller.signal });
    await fleet.observe('whole');
    controller.abort();
    const count = counter();
    const { failures } = await fleet.observe('often');
    expect(Object.keys(failures)).toHaveLength(4);
    expect(count()).toEqual(rack.names.map(() => [0, 0]));
  });
});
