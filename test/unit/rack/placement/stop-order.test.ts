import { describe, expect, it } from 'vitest';
import { executeSteps } from '../../../../src/apply/execute.ts';
import { driverOf } from '../../../../src/drivers/registry.ts';
import { planJson } from '../../../../src/engine/plan/plan-json.ts';
import type { DesiredFleet } from '../../../../src/model/desired.ts';
import { known } from '../../../../src/model/known.ts';
import { nodeName } from '../../../../src/model/node.ts';
import type { Step } from '../../../../src/model/step.ts';
import type { Goal } from '../../../../src/rack/goal.ts';
import type { MeshWork, SeenRank } from '../../../../src/rack/placement/mesh/rank-states.ts';
import { stopRanks } from '../../../../src/rack/placement/mesh/stop-mesh.ts';
import { fleetOfDriver, meshFleet, observeMesh, threeRanks } from '../../../rack/placements.ts';
import { makePlan } from '../../../rack/plans.ts';
import { onOnePage } from '../../one-page.ts';

function planOf(desired: DesiredFleet, goal: Goal = { kind: 'stop', placements: ['kimi'] }) {
  const driver = desired.placements.length === 0 ? undefined : desired.runtimes[0]?.driver;
  const changes = driver === undefined ? {} : { driver };
  const observation = observeMesh(desired, { ranks: threeRanks(['joined', 'joined', 'joined'], { changes }) });
  return makePlan({ goal, desired, observation, targets: desired.nodes.map(({ name }) => name) });
}

const orderOf = (steps: readonly Step[]): readonly unknown[] =>
  steps
    .filter(({ act }) => act.kind === 'script' && act.name === 'stop-rank')
    .map(({ id, needs, after }) => [id, needs, after]);

const stopOn = (node: string): string => `${node}/placement/kimi/stop`;

describe('the rank stop order', () => {
  it.each(['command', 'llamacpp-rpc'])('puts the leader first with %s, whether or not the leader stops', (driver) => {
    expect(orderOf(planOf(fleetOfDriver(driver)).steps)).toEqual([
      [stopOn('studio-1'), [], undefined],
      [stopOn('studio-2'), [], [stopOn('studio-1')]],
      [stopOn('studio-3'), [], [stopOn('studio-1')]],
    ]);
  });

  it.each([
    ['mlx', undefined],
    ['exo', ['studio-1/placement/kimi/graceful-shutdown']],
  ])('is parallel with %s, whose ranks wait for a lost peer in the kernel', (driver, after) => {
    expect(orderOf(planOf(fleetOfDriver(driver)).steps)).toEqual(
      ['studio-1', 'studio-2', 'studio-3'].map((node) => [stopOn(node), [], after]),
    );
  });

  it("starts with a graceful shutdown at the leader's port if the driver supports it", () => {
    const [shutdown] = planOf(fleetOfDriver('exo')).steps;
    expect(shutdown).toMatchObject({
      id: 'studio-1/placement/kimi/graceful-shutdown',
      act: { kind: 'dialogue', name: 'exo-graceful-shutdown', args: { node: 'studio-1', port: 8_080 } },
      effect: { kind: 'interrupt', placement: 'kimi' },
    });
  });

  it.each(['exited', 'running'] as const)(
    'skips the graceful shutdown if the leader is %s and does not listen',
    (leader) => {
      const desired = fleetOfDriver('exo');
      const observation = observeMesh(desired, { ranks: threeRanks([leader, 'joined', 'joined']) });
      const targets = desired.nodes.map(({ name }) => name);
      const { steps } = makePlan({ goal: { kind: 'stop', placements: ['kimi'] }, desired, observation, targets });
      expect(steps.filter(({ act }) => act.kind === 'dialogue')).toEqual([]);
      expect(orderOf(steps)).toHaveLength(leader === 'exited' ? 2 : 3);
    },
  );

  it('puts the leader first if the driver is unknown', () => {
    const fleet = meshFleet();
    const steps = orderOf(planOf({ ...fleet, placements: [] }, { kind: 'converge' }).steps);
    expect(steps).toContainEqual([stopOn('studio-3'), expect.anything(), [stopOn('studio-1')]]);
  });

  it.each([
    ['exo', ['studio-1/placement/kimi/graceful-shutdown'], { graceMs: 15_000 }],
    ['mlx', undefined, { graceMs: 10_000, interruptMs: 10_000 }],
  ] as const)('follows the rules of %s if only the rank records name the driver', (name, after, ladder) => {
    const { logPattern } = driverOf({ driver: name });
    const desired = { ...fleetOfDriver(name), placements: [] };
    const ranks = threeRanks(['joined', 'joined', 'joined'], { changes: { logPattern } });
    const observation = observeMesh(desired, { ranks });
    const targets = desired.nodes.map((node) => node.name);
    const { steps } = makePlan({ goal: { kind: 'converge' }, desired, observation, targets });
    expect(orderOf(steps)).toEqual(['studio-1', 'studio-2', 'studio-3'].map((node) => [stopOn(node), [], after]));
    const stops = steps.flatMap(({ act }) => (act.kind === 'script' && act.name === 'stop-rank' ? [act.args] : []));
    expect(stops).toEqual(Array.from({ length: 3 }, () => ({ placement: 'kimi', outcome: 'served', ...ladder })));
  });

  it('follows the driver that started the ranks after the file changes drivers', () => {
    const { logPattern } = driverOf({ driver: 'exo' });
    const desired = fleetOfDriver('mlx');
    const ranks = threeRanks(['joined', 'joined', 'joined'], { changes: { logPattern } });
    const targets = desired.nodes.map(({ name }) => name);
    const goal = { kind: 'stop', placements: ['kimi'] } as const;
    const { steps } = makePlan({ goal, desired, observation: observeMesh(desired, { ranks }), targets });
    const afterShutdown = ['studio-1/placement/kimi/graceful-shutdown'];
    expect(orderOf(steps)).toEqual(
      ['studio-1', 'studio-2', 'studio-3'].map((node) => [stopOn(node), [], afterShutdown]),
    );
  });

  it.each([
    ['of a program without known log lines', { driver: 'command' }, [stopOn('studio-1')]],
    ['without a recorded driver', {}, undefined],
  ] as const)('contains neither a graceful shutdown nor SIGINT for ranks %s', (_case, changes, after) => {
    for (const driver of ['exo', 'mlx']) {
      const desired = fleetOfDriver(driver);
      const observation = observeMesh(desired, { ranks: threeRanks(['joined', 'joined', 'joined'], { changes }) });
      const targets = desired.nodes.map(({ name }) => name);
      const { steps } = makePlan({ goal: { kind: 'stop', placements: ['kimi'] }, desired, observation, targets });
      expect(steps.filter(({ act }) => act.kind === 'dialogue')).toEqual([]);
      expect(JSON.stringify(steps)).not.toContain('interruptMs');
      expect(orderOf(steps)).toContainEqual([stopOn('studio-2'), [], after]);
    }
  });

  it('is part of the JSON plan, whose final gate needs every stop', () => {
    const plan = planOf(meshFleet());
    expect(planJson(plan, { isSimulated: false })).toMatchObject({
      steps: expect.arrayContaining([expect.objectContaining({ id: stopOn('studio-2'), after: [stopOn('studio-1')] })]),
    });
    const gate = plan.steps.find(({ act }) => act.kind === 'gate');
    expect(gate?.needs.toSorted()).toEqual(['studio-1', 'studio-2', 'studio-3'].map(stopOn));
  });
});

describe('a failed stop of the leader', () => {
  it("does not prevent the other ranks' stop, but skips the check that all are stopped", async () => {
    const never = new AbortController().signal;
    const reports = await executeSteps(planOf(meshFleet()), {
      begin: ({ id }) => id,
      run: ({ id }) => Promise.resolve({ outcome: id === stopOn('studio-1') ? 'failed' : 'changed', diagnostics: [] }),
      parallel: 16,
      forbidden: never,
      halted: never,
      abortMs: 50,
      onEnd: () => undefined,
      onRescue: () => undefined,
    });
    expect(Object.fromEntries(reports.map(({ step, outcome }) => [step.id, outcome]))).toEqual({
      [stopOn('studio-1')]: 'failed',
      [stopOn('studio-2')]: 'changed',
      [stopOn('studio-3')]: 'changed',
      'studio-1/placement/kimi/stopped': 'skipped',
    });
  });
});

describe('a step required before a stop', () => {
  it("precedes every rank's stop", () => {
    const nodes = ['studio-1', 'studio-2'].map(nodeName);
    const work: MeshWork = { placement: 'kimi', nodes, changes: [] };
    const seen: SeenRank = {
      state: 'joined',
      mayRun: true,
      starts: known(1),
      budget: known({ taken: 0, limit: 3, isAssumed: true, isCounted: true }),
    };
    const [gateway] = stopRanks(() => work, [{ node: nodeName('studio-4'), seen }], {
      isAnswering: false,
      seconds: 0,
      needs: [],
    });
    if (gateway === undefined) throw new Error('the plan stops nothing');
    const stops = stopRanks(
      () => work,
      nodes.map((node) => ({ node, seen })),
      { isAnswering: true, seconds: 1, needs: [gateway] },
    );
    expect(stops.map(({ needs }) => needs)).toEqual([[gateway.id], [gateway.id]]);
  });
});

onOnePage('stop-order');
