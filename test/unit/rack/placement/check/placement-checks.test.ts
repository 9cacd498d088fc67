import { describe, expect, it } from 'vitest';
import type { DesiredFleet, DesiredPlacement } from '../../../../../src/model/desired.ts';
import type { RecordedRank } from '../../../../../src/model/facts/fact-values.ts';
import type { ModelShape } from '../../../../../src/model/model-shape.ts';

import { checkPlacement } from '../../../../../src/rack/placement/check/placement-checks.ts';
import { planText } from '../../../../../src/report/plan/plan-text.ts';
import { plainPage } from '../../../../rack/page.ts';
import { type MeshRack, meshFleet, observeMesh, threeRanks } from '../../../../rack/placements.ts';
import { makePlan } from '../../../../rack/plans.ts';
import { evenShape, gib } from '../../../engine/plan/fit-shapes.ts';
import { onOnePage } from '../../../one-page.ts';

const gqa = (bytes: number, heads = 12): ModelShape =>
  evenShape(bytes, { count: 60, heads, kvHeads: heads, headDim: 12, attention: { kind: 'gqa' }, dims: {} });

/** The placement `kimi` with a model of this shape, on Macs with 512 GB, of which 480 GiB may be wired. */
function fleetWith(shape: ModelShape | undefined, placement: Partial<DesiredPlacement> = {}): DesiredFleet {
  const fleet = meshFleet({ placement });
  return { ...fleet, models: fleet.models.map((model) => ({ ...model, ...(shape === undefined ? {} : { shape }) })) };
}

const idle: MeshRack = { ranks: {} };

function planFor(fleet: DesiredFleet, rack: MeshRack = idle) {
  const targets = fleet.nodes.map(({ name }) => name);
  return makePlan({ goal: { kind: 'converge' }, desired: fleet, observation: observeMesh(fleet, rack), targets });
}

const memoryCodes = (plan: ReturnType<typeof planFor>) => ({
  blockers: plan.blockers.flatMap(({ code }) => (code.startsWith('placement/') ? [code] : [])),
  findings: plan.diagnostics.flatMap(({ code }) => (code.startsWith('placement/') ? [code] : [])),
});

const pageOf = (plan: ReturnType<typeof planFor>): string =>
  planText({ plan, lock: { shown: 'cluster.lock', additions: [] }, next: [] }, plainPage({ unicode: true }));

/** A fleet whose runtime starts this program on its nodes. */
function fleetStarting(program: string, accounts: DesiredFleet['system']['accounts']): DesiredFleet {
  const fleet = fleetWith(undefined);
  return {
    ...fleet,
    system: { ...fleet.system, accounts },
    runtimes: fleet.runtimes.map((one) => (one.driver === 'command' ? { ...one, command: [program] } : one)),
  };
}

describe('a home that ranks cannot enter', () => {
  const ranks = '_meshrank';
  it.each([
    ['/Users/ana/bin/rank', { ranks }, true],
    ['/Users/ana/bin/rank', { ranks: 'ana' }, false],
    ['/Users/ana/bin/rank', {}, false],
    ['/Users/Shared/rank', { ranks }, false],
    ['/opt/rank', { ranks }, false],
    ['Users/ana/rank', { ranks }, false],
  ] as const)('contains the program %s with accounts %j: %j', (program, accounts, isReported) => {
    const fleet = fleetStarting(program, accounts);
    const found = fleet.placements.flatMap((placement) => checkPlacement(placement, fleet));
    const reported = found.filter(({ code }) => code === 'placement/program-in-home');
    expect(reported.map(({ detail }) => detail)).toEqual(
      isReported ? ['The ranks of kimi run as _meshrank, and /Users/ana/bin/rank is in the home of ana.'] : [],
    );
  });
});

describe('a placement that should start', () => {
  it('does not cause a finding when it fits, and the plan lists its bytes per node', () => {
    const plan = planFor(fleetWith(gqa(600e9)));
    expect(memoryCodes(plan)).toEqual({ blockers: [], findings: [] });
    const onEach = ['studio-1', 'studio-2', 'studio-3'].map((node) => [node, 'fits', 1]);
    expect(plan.memory?.map(({ node, verdict, shares }) => [node, verdict, shares.length])).toEqual(onEach);
  });

  it('is refused when it does not fit, with the closest configuration that fits', () => {
    const plan = planFor(fleetWith(gqa(1_800e9)));
    expect(memoryCodes(plan).blockers).toEqual(['placement/does-not-fit']);
    const [blocker] = plan.blockers.filter(({ code }) => code === 'placement/does-not-fit');
    expect(blocker).toMatchObject({ node: 'studio-1', peers: ['studio-2', 'studio-3'] });
    expect(blocker?.blocks).toEqual(['studio-1 placement/kimi']);
    expect(plan.steps.filter(({ resource }) => resource === 'placement')).toEqual([]);
    expect(pageOf(plan)).toContain('  studio-1..3  kimi 610.6 GB of 515.4 GB (118 %)\n');
  });

  it('is checked against the GPU memory that a rank reported in this boot session', () => {
    const { system, ...fleet } = fleetWith(gqa(600e9));
    const { wiredLimit: _, ...rest } = system;
    const bytes = 300 * gib;
    const budgets = (startedIn: string, changes: Partial<RecordedRank>) => {
      const stopped = (node: string, rank: number): MeshRack['ranks'] => ({
        [node]: [{ state: 'stopped', rank, startedIn: `${startedIn}-${node}`, changes }],
      });
      const ranks = { ...stopped('studio-1', 0), ...stopped('studio-2', 1), ...stopped('studio-3', 2) };
      const values = Object.fromEntries(fleet.nodes.map(({ name }) => [name, { 'wired-limit': { megabytes: 0 } }]));
      return planFor({ ...fleet, system: rest }, { ranks, values });
    };
    const reported = budgets('BOOT', { gpuBytes: bytes });
    expect(reported.memory?.map(({ budget }) => budget)).toEqual(Array(3).fill({ kind: 'reported', bytes }));
    expect(pageOf(reported)).toContain('GPU memory (reported by a rank)\n');
    for (const other of [budgets('EARLIER', { gpuBytes: bytes }), budgets('BOOT', {})]) {
      expect(other.memory?.map(({ budget }) => budget?.kind)).toEqual(Array(3).fill('assumed'));
      expect(pageOf(other)).toContain('GPU memory (assumed)\n');
    }
  });

  it('is refused when memory is tight, unless the file allows it', () => {
    const shape = gqa(1_400e9);
    expect(memoryCodes(planFor(fleetWith(shape)))).toEqual({ blockers: ['placement/tight'], findings: [] });
    const allowed = planFor(fleetWith(shape, { allow: ['tight'] }));
    expect(memoryCodes(allowed)).toEqual({ blockers: [], findings: ['placement/tight'] });
  });

  it.each([
    [1_150e9, ['placement/degraded']],
    [1_000e9, ['placement/near-degraded']],
  ])('starts a model of %d bytes and reports %j', (bytes, findings) => {
    expect(memoryCodes(planFor(fleetWith(gqa(bytes))))).toEqual({ blockers: [], findings });
  });

  it('starts with a finding when its memory needs are unknown', () => {
    const fleet = fleetWith(undefined);
    const models = fleet.models.map((model) => ({ ...model, shapeUnknown: 'its config.json is not a JSON object' }));
    const plan = planFor({ ...fleet, models });
    expect(memoryCodes(plan)).toEqual({ blockers: [], findings: ['placement/memory-unknown'] });
    expect(pageOf(plan)).toContain('  studio-1..3  kimi unknown of 515.4 GB\n');
  });

  it('is refused when its heads do not divide evenly, with possible node counts', () => {
    expect(memoryCodes(planFor(fleetWith(gqa(6e9, 64)))).blockers).toEqual(['placement/not-divisible']);
  });

  it('is checked against the memory in the file when no node was observed', () => {
    const fleet = fleetWith(gqa(1_800e9));
    const [kimi] = fleet.placements;
    if (kimi === undefined) throw new Error('the fleet has no placement');
    expect(checkPlacement(kimi, fleet).map(({ code }) => code)).toEqual(['placement/memory-unknown']);
    const nodes = fleet.nodes.map((node) => ({ ...node, hardware: { memoryBytes: 256 * gib } }));
    expect(checkPlacement(kimi, { ...fleet, nodes }).map(({ code }) => code)).toEqual(['placement/does-not-fit']);
  });
});

describe('a placement on nodes with different macOS versions', () => {
  const codesWith = (build: string, version: string, transport: DesiredPlacement['transport']) => {
    const values = { 'studio-3': { 'macos-version': { version, build } } };
    const plan = planFor(fleetWith(gqa(600e9), { transport }), { ranks: {}, values });
    const codes = [...plan.blockers, ...plan.diagnostics].map(({ code }) => code);
    const isStarted = plan.steps.some(({ resource }) => resource === 'placement');
    return [[...new Set(codes)].filter((code) => /macos/.test(code)).sort(), isStarted];
  };

  it('is blocked, with a single finding', () => {
    expect(codesWith('25E246', '26.5.1', 'rdma')).toEqual([['macos/versions-differ'], false]);
  });

  it('is refused over RDMA but started over TCP when builds differ', () => {
    expect(codesWith('25F5058e', '26.5', 'rdma')).toEqual([['macos/builds-differ', 'placement/mixed-macos'], false]);
    expect(codesWith('25F5058e', '26.5', 'tcp')).toEqual([['macos/builds-differ'], true]);
  });
});

describe('a serving placement', () => {
  it('is not checked against the memory estimate', () => {
    const serving: MeshRack = { ranks: threeRanks(['joined', 'joined', 'joined']) };
    expect(memoryCodes(planFor(fleetWith(gqa(1_800e9)), serving))).toEqual({ blockers: [], findings: [] });
  });

  it('counts toward the memory of a second placement on its nodes', () => {
    const fleet = fleetWith(gqa(900e9));
    const [kimi] = fleet.placements;
    if (kimi === undefined) throw new Error('the fleet has no placement');
    const both = { ...fleet, placements: [kimi, { ...kimi, name: 'second', endpointPort: 8_081 }] };
    const serving: MeshRack = { ranks: threeRanks(['joined', 'joined', 'joined']) };
    const plan = planFor(both, serving);
    expect(plan.blockers.filter(({ code }) => code === 'placement/does-not-fit').map(({ blocks }) => blocks)).toEqual([
      ['studio-1 placement/second'],
    ]);
    expect(pageOf(plan)).toContain('kimi 310.6 GB + second 310.6 GB = 621.3 GB of 515.4 GB (121 %)');
  });
});

onOnePage('placement-checks');
