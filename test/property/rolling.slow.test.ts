import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, describe, expect, it, vi } from 'vitest';
import type { ForeseenBatch, PlaybookReport } from '../../src/apply/playbook-report.ts';
import { runPlaybook } from '../../src/apply/run-playbook.ts';
import { realTiming } from '../../src/apply/run-timing.ts';
import { diagnose } from '../../src/diagnostics/diagnose.ts';
import { configurePlacement } from '../../src/drivers/configure-placement.ts';
import { lastingNames } from '../../src/drivers/contract/driver.ts';
import { unitsOf } from '../../src/engine/playbooks/batches.ts';
import type { BatchSize, Play, Task } from '../../src/engine/playbooks/playbook.ts';
import type { DesiredFleet, DesiredPlacement } from '../../src/model/desired.ts';
import { shortDigest } from '../../src/model/digest.ts';
import type { ObservedTree } from '../../src/model/facts/fact-values.ts';
import { nodeName } from '../../src/model/node.ts';
import type { Step } from '../../src/model/step.ts';
import { serviceFile } from '../../src/node/paths/own-paths.ts';
import { textDigest } from '../../src/node/put-file.ts';
import type { FleetObservation } from '../../src/rack/examination.ts';
import { withFakeClock } from '../fake-clock.ts';
import { meshFleet, observeMesh, placed, type RankCase } from '../rack/placements.ts';
import { desiredFleet, links, settledFacts } from '../rack/rack.ts';
import { runs } from '../runs.ts';
import { sampleSeed } from '../sample.ts';

// Other test files in this process load these modules too, before or after this one, and without the made-up rack.
vi.hoisted(() => vi.resetModules());
afterAll(() => {
  vi.doUnmock('../../src/apply/open-run.ts');
  vi.resetModules();
});

/** Steps act on a made-up rack instead of being sent; everything else of a run is real. */
vi.mock('../../src/apply/open-run.ts', () => {
  const never = new AbortController().signal;
  const quiet = () => undefined;
  return {
    openRun: (rack: Rack) => ({ rack, keeper: { lost: never } }),
    closeRun: async () => undefined,
    beginPlan: async () => undefined,
    stepOptions: (_: unknown, { rack }: { readonly rack: Rack }) => ({
      ...{ begin: () => rack, run: rack.act, parallel: 8, forbidden: never, halted: never, abortMs: 1 },
      ...{ onEnd: quiet, onRescue: quiet },
    }),
    reportOf: (_: unknown, steps: PlaybookReport['works']) => ({
      ...{ runId: 'run', steps, refusals: [], isInterrupted: false, isLeaseLost: false, diagnostics: [] },
    }),
  };
});

const macs = Array.from({ length: 8 }, (_, at) => `studio-${at + 1}`);
const nodes = macs.map(nodeName);

const tasks: Readonly<Record<'reboot' | 'restart', readonly Task[]>> = {
  reboot: [{ kind: 'reboot' }, { kind: 'wait', for: 'observed', deadlineMs: 60_000 }, { kind: 'start' }],
  restart: [{ kind: 'stop', isRestart: true }, { kind: 'start' }],
};

const size: fc.Arbitrary<BatchSize> = fc.oneof(
  fc.constant({ kind: 'unit' } as const),
  fc.record({ kind: fc.constant('count' as const), count: fc.integer({ min: 1, max: 8 }) }),
  fc.record({ kind: fc.constant('percent' as const), percent: fc.integer({ min: 1, max: 100 }) }),
);

/** What goes wrong after this many acts: a placement hangs, a Mac goes away, or a placement cannot start again. */
const trouble = fc.record({
  kind: fc.constantFrom('hangs', 'goes', 'breaks'),
  at: fc.integer({ min: 0, max: 7 }),
  after: fc.integer({ min: 0, max: 12 }),
});

/** A rack of eight Macs with four placements, a play, and the length of each act. */
const schedule = fc.record({
  members: fc.array(fc.subarray(macs, { minLength: 1, maxLength: 3 }), { minLength: 4, maxLength: 4 }),
  serial: fc.array(size, { minLength: 1, maxLength: 3 }),
  isRespectful: fc.boolean(),
  maxFailures: fc.integer({ min: 0, max: 3 }),
  kind: fc.constantFrom('reboot' as const, 'restart' as const),
  trouble: fc.option(trouble, { nil: undefined }),
  isUncounted: fc.integer({ min: 0, max: 9 }).map((drawn) => drawn === 0),
  lengths: fc.array(fc.integer({ min: 1, max: 900 }), { minLength: 40, maxLength: 40 }),
});

type Schedule = typeof schedule extends fc.Arbitrary<infer T> ? T : never;

/** The file: the Macs of each placement have a cable between every two of them. */
function fleetOf({ members }: Schedule): { readonly desired: DesiredFleet; readonly cables: readonly string[] } {
  const used = new Map<string, number>();
  const next = (mac: string): string => {
    used.set(mac, (used.get(mac) ?? 0) + 1);
    return `${mac}:${used.get(mac)}`;
  };
  const pairs = new Set(members.flatMap((own) => own.flatMap((a, at) => own.slice(at + 1).map((b) => `${a} ${b}`))));
  const cables = [...pairs].map((pair) => pair.split(' ').map(next).join(' <-> '));
  const { runtimes, models, thunderbolt } = meshFleet();
  const networks = cables.map((_, index) => [index, { address: `10.77.0.${index * 4}`, prefixLength: 30 }]);
  const desired = desiredFleet({
    ...{ names: macs, runtimes, models },
    thunderbolt: { ...thunderbolt, links: links(cables), networks: Object.fromEntries(networks) },
    placements: members.map((own, at) =>
      placed(`p${at}`, own, {
        ...{ model: 'tiny', contextTokens: 4_096, endpointPort: 8_100 + at },
        ...(own.length > 1 ? { sharding: 'tensor' } : {}),
      }),
    ),
  });
  return { desired, cables };
}

type State = 'serving' | 'stopped' | 'hung';

interface Act {
  readonly kind: 'stop' | 'start' | 'reboot';
  readonly name: string;
  readonly batch: number;
}

type Rack = ReturnType<typeof makeRack>;

/** A rack whose Macs and placements only change their states, and record what is done to them. */
function makeRack(drawn: Schedule) {
  const { desired, cables } = fleetOf(drawn);
  const { placements } = desired;
  const states = new Map<string, State>(placements.map(({ name }) => [name, 'serving']));
  const away = new Set<string>();
  const acts: Act[] = [];
  let batch = -1;
  let timers = 0;
  const facts = new Map(macs.map((name) => [name, settledFacts(name, cables, links(cables))]));
  const onMac = (mac: string) => placements.filter(({ nodes: own }) => own.some((node) => node === mac));
  const isBroken = (name: string): boolean =>
    drawn.trouble?.kind === 'breaks' && name === `p${drawn.trouble.at % placements.length}`;

  /** The trouble comes before the first act, or right after one. */
  const strike = (): void => {
    const { trouble } = drawn;
    if (trouble?.after !== acts.length) return;
    const name = `p${trouble.at % placements.length}`;
    if (trouble.kind === 'hangs' && states.get(name) === 'serving') states.set(name, 'hung');
    const mac = macs[trouble.at] ?? '';
    if (trouble.kind !== 'goes' || away.has(mac)) return;
    away.add(mac);
    for (const one of onMac(mac)) if (states.get(one.name) === 'serving') states.set(one.name, 'hung');
  };
  const record = (kind: Act['kind'], name: string): void => {
    acts.push({ kind, name, batch });
    strike();
  };
  strike();

  const rankOf = (one: DesiredPlacement, rank: number, digest: string): RankCase => {
    const state = states.get(one.name);
    const silent = { kind: 'silent', reason: 'timed out', isTimeout: true } as const;
    return {
      ...{ placement: one.name, rank, digest, state: state === 'stopped' ? 'stopped' : 'joined' },
      changes: { size: one.nodes.length, endpointPort: one.endpointPort },
      ...(state === 'hung' && rank === 0 ? { token: silent } : {}),
    };
  };
  const configured = placements.map((one) => {
    const ranks = configurePlacement(one, desired, 4, lastingNames);
    if (ranks.kind !== 'configured') throw new Error(`${one.name} cannot be configured: ${ranks.missing}`);
    return { one, ...ranks };
  });
  const trees = [...desired.runtimes, ...desired.models].map(({ name, digest }, at): ObservedTree => {
    const own = digest === undefined ? '' : shortDigest(digest);
    return {
      kind: at < desired.runtimes.length ? 'runtime' : 'model',
      name,
      digest: own,
      state: 'intact',
      isCurrent: true,
    };
  });
  const observe = (): FleetObservation => {
    const ranksOn = (mac: string) =>
      configured.flatMap(({ one, ranks, digest }) =>
        ranks.flatMap(({ node, service }, rank) => (node === mac ? [{ one, rank, digest, service }] : [])),
      );
    const values = macs.map((mac) => {
      const { placements: _, services: __, ...rest } = facts.get(mac) ?? settledFacts(mac);
      const files = ranksOn(mac).map(({ one, service }) => ({
        ...{ path: serviceFile(one.name).path, digest: textDigest(service), state: 'intact' as const },
      }));
      return [mac, { ...rest, files, trees }];
    });
    const ranks = macs.map((mac) => [mac, ranksOn(mac).map(({ one, rank, digest }) => rankOf(one, rank, digest))]);
    const rack = { ranks: Object.fromEntries(ranks), values: Object.fromEntries(values), unreachable: [...away] };
    const failures = [...away].map((mac) => [mac, [diagnose('ssh/unreachable', { detail: 'no route' })]]);
    return { ...observeMesh(desired, { ...rack, cables, names: macs }), failures: Object.fromEntries(failures) };
  };

  const act = async ({ id, node, peers, act: { kind }, effect }: Step) => {
    timers += 1;
    await sleep(drawn.lengths[timers % drawn.lengths.length]);
    if ([node, ...peers].some((one) => away.has(one))) return { outcome: 'unknown', diagnostics: [] };
    const [, name = ''] = /\/placement\/(\w+)\//.exec(id) ?? [];
    if (effect.kind === 'interrupt') {
      if (states.get(name) !== 'stopped') record('stop', name);
      states.set(name, 'stopped');
    } else if (kind === 'reboot') {
      expect(onMac(node).map((one) => states.get(one.name) ?? 'none')).toEqual(onMac(node).map(() => 'stopped'));
      record('reboot', node);
    } else if (kind === 'ask') {
      if (isBroken(name)) return { outcome: 'failed', diagnostics: [] };
      states.set(name, 'serving');
      record('start', name);
    }
    return { outcome: 'changed', diagnostics: [] };
  };
  const enter = (at: number): void => {
    batch = at;
  };
  return { desired, states, acts, onMac, observe, act, enter };
}

/** Runs the play, and returns what was shown before, what was done, and the state of the rack around each batch. */
async function roll(drawn: Schedule) {
  const rack = makeRack(drawn);
  const { desired, states, acts, observe } = rack;
  const play: Play = {
    ...{ nodes: { kind: 'all' }, serial: drawn.serial, maxFailures: drawn.maxFailures, tasks: tasks[drawn.kind] },
    ...{ bakeMs: 1_000, rescue: [{ kind: 'notify', command: ['page'] }], sparesHung: true },
    ...(drawn.isRespectful ? { respect: 'placements' } : {}),
    ...(drawn.isUncounted ? { blockers: [{ requests: 0 }] } : {}),
  };
  const shown: { readonly batches: readonly ForeseenBatch[]; readonly acts: number }[] = [];
  const silent = () => [...states].flatMap(([name, state]) => (state === 'serving' ? [] : [name]));
  const before = new Map<number, readonly string[]>();
  const after = new Map<number, readonly string[]>();
  let pages = 0;
  let ended = 0;
  const report = await withFakeClock(86_400_000, () =>
    runPlaybook(
      { name: 'own', plays: [play] },
      {
        scope: { desired, targets: nodes },
        timing: realTiming,
        observe: async () => observe(),
        foresee: async (batches) => shown.push({ batches, acts: acts.length }) > 0,
        approve: async (_, place) => {
          rack.enter(place.batch);
          return true;
        },
        confirm: async () => true,
        perform: async () => {
          pages += 1;
          return { failed: [], diagnostics: [] };
        },
        run: () => rack as never,
        checksBaked: true,
        onWork: async ({ task, batch }) => {
          ended += 1;
          if (task.kind === 'ready') before.set(batch, silent());
          after.set(batch, silent());
        },
      },
    ),
  );
  // The works after the last batch: what had baked and is silent now.
  const late = report.works.slice(ended).flatMap(({ failed }) => failed);
  return {
    rack,
    play,
    shown,
    before,
    after,
    pages,
    late,
    silent: silent(),
    report: { ...report, works: report.works.slice(0, ended) },
  };
}

describe('a roll over eight Macs with four placements', () => {
  it.each([...Array(10).keys()])('holds the rules of playbooks in everything that it runs: part %i', async (part) => {
    await fc.assert(
      fc.asyncProperty(schedule, async (drawn) => {
        const { rack, shown, before, after, pages, late, silent, report } = await roll(drawn);
        const { acts, desired, onMac } = rack;
        const units = unitsOf(nodes, desired);
        const unitOf = (name: string) => units.find((unit) => unit.placements.includes(name));
        // What was shown and agreed to is what runs, in this order.
        expect(shown.map((one) => one.acts)).toEqual([0]);
        const batches = shown[0]?.batches.map((one) => one.nodes) ?? [];
        const works = batches.map((_, at) => report.works.filter(({ batch }) => batch === at));
        expect(report.works.every(({ batch, nodes: own }) => own.every((node) => batches[batch]?.includes(node)))).toBe(
          true,
        );
        // Each act is in its own batch, each placement stops once, and with `respect` one unit at a time.
        for (const { kind, name, batch } of acts) {
          const touched = kind === 'reboot' ? [nodeName(name)] : (unitOf(name)?.nodes ?? []);
          expect(touched.every((node) => batches[batch]?.includes(node))).toBe(true);
        }
        const stops = acts.filter(({ kind }) => kind === 'stop');
        expect(stops.length).toBe(new Set(stops.map(({ name }) => name)).size);
        for (const at of drawn.isRespectful ? batches.keys() : [])
          expect(
            new Set(stops.flatMap((one) => (one.batch === at ? [unitOf(one.name)] : []))).size,
          ).toBeLessThanOrEqual(1);
        // A placement that hangs or has no count keeps its batch from beginning. The first check is for the whole play.
        for (const [at, silent] of before) {
          const own = units
            .filter((unit) => unit.nodes.some((node) => batches[at]?.includes(node)))
            .flatMap((unit) => unit.placements);
          const hung = silent.some((name) => at === 0 || own.includes(name));
          if (hung || (drawn.isUncounted && own.length > 0))
            expect([works[at]?.length, report.isDeclined]).toEqual([1, true]);
        }
        // A placement that is down after a batch counts as failed, and so does one whose state is unknown.
        const failed = works.map(
          (all) => new Set(all.flatMap((one) => one.failed.filter((node) => batches[one.batch]?.includes(node)))),
        );
        for (const [at, silent] of after) {
          if (report.isDeclined && works[at]?.length === 1) continue;
          const lost = (batches[at] ?? []).filter((node) => onMac(node).some(({ name }) => silent.includes(name)));
          expect([...(failed[at] ?? [])]).toEqual(expect.arrayContaining(lost));
        }
        // At the end, what has baked must still serve.
        const baked = report.works.filter((one) => one.task.kind === 'bake' && one.failed.length === 0);
        const lost = baked
          .flatMap((one) => one.nodes)
          .filter((node) => onMac(node).some(({ name }) => silent.includes(name)));
        expect(late.toSorted()).toEqual(lost.toSorted());
        // The rescue runs once for each batch with a failure, and no batch begins beyond the limit.
        expect(pages).toBe(failed.filter(({ size: count }) => count > 0).length);
        let count = 0;
        for (const [at, own] of failed.entries()) {
          if (!report.isDeclined) expect(works[at]?.length === 0).toBe(count > drawn.maxFailures);
          else if (count > drawn.maxFailures) expect(works[at]).toEqual([]);
          count += own.size;
        }
        if (drawn.trouble === undefined && !drawn.isUncounted) {
          expect([count, report.isStopped, report.isDeclined]).toEqual([0, false, false]);
          expect(stops.map(({ name }) => name).toSorted()).toEqual(['p0', 'p1', 'p2', 'p3']);
          expect(acts.filter(({ kind }) => kind === 'reboot').length).toBe(drawn.kind === 'reboot' ? 8 : 0);
        }
      }),
      // Of 200 in ten parts. A smaller case would take minutes to find.
      { numRuns: runs(20), seed: (sampleSeed + part) >>> 0, endOnFailure: true },
    );
  });
});
