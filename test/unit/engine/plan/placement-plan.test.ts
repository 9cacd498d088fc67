import { describe, expect, it } from 'vitest';
import { plainText } from '../../../../src/diagnostics/prose-text.ts';
import type { FactValues } from '../../../../src/engine/observe/facts.ts';
import type { Plan } from '../../../../src/engine/plan/plan.ts';
import type { DesiredFleet } from '../../../../src/model/desired.ts';
import { digestOf } from '../../../../src/model/digest.ts';
import type { RecordedRank } from '../../../../src/model/facts/fact-values.ts';
import type { Step } from '../../../../src/model/step.ts';
import type { Goal } from '../../../../src/rack/goal.ts';
import { effectTexts } from '../../../../src/report/plan/plan-text.ts';
import { llamaFleet, type MeshRack, meshFleet, observeMesh, threeRanks } from '../../../rack/placements.ts';
import { makePlan } from '../../../rack/plans.ts';
import { asText } from '../../as-text.ts';
import { onOnePage } from '../../one-page.ts';

const nodes = ['studio-1', 'studio-2', 'studio-3', 'studio-4'];
const published: Partial<FactValues> = {
  trees: [
    { kind: 'runtime', name: 'reference', digest: digestOf('archive').slice(0, 16), isCurrent: true, state: 'intact' },
    { kind: 'model', name: 'tiny', digest: digestOf('model').slice(0, 16), isCurrent: false, state: 'intact' },
  ],
};

interface PlanCase {
  readonly desired?: DesiredFleet;
  readonly rack: MeshRack;
  readonly goal?: Goal;
  /** Facts about a node in addition to the published trees. */
  readonly values?: Readonly<Record<string, Partial<FactValues>>>;
}

function planFor({ desired = meshFleet(), rack, goal = { kind: 'converge' }, values = {} }: PlanCase): Plan {
  const all = Object.fromEntries(nodes.map((node) => [node, { ...published, ...values[node] }]));
  const observation = observeMesh(desired, { ...rack, values: all });
  return makePlan({ goal, desired, observation, targets: desired.nodes.map(({ name }) => name) });
}

const blockersOf = ({ blockers }: Plan, wanted: string) =>
  blockers.filter(({ code }) => code === wanted).map((one) => asText(one));

const waitsFor = (plan: Plan): readonly string[] =>
  plan.waiting
    .filter(({ resource }) => resource === 'placement/kimi')
    .flatMap((one) => one.for.map(({ text }) => text));

/** All steps that a step waits for, directly or through other steps. */
function behind(step: Step | undefined, plan: Plan): readonly string[] {
  const found = new Set<string>();
  const visit = (one: Step | undefined): void => {
    for (const id of one?.needs ?? []) {
      if (found.has(id)) continue;
      found.add(id);
      visit(plan.steps.find((other) => other.id === id));
    }
  };
  visit(step);
  return [...found];
}

const stepOf = (plan: Plan, id: string): Step | undefined => plan.steps.find((step) => step.id === id);

const all = threeRanks(['joined', 'joined', 'joined'], { digest: 'of old' });

describe('a placement in a complete plan', () => {
  it('is stopped only after everything is installed on all of its nodes', () => {
    const plan = planFor({ rack: { ranks: all }, values: { 'studio-3': { trees: [] } } });
    expect(behind(stepOf(plan, 'studio-1/placement/kimi/stop'), plan)).toEqual(
      expect.arrayContaining(['studio-3/model/tiny/publish', 'studio-1/link-address/gate']),
    );
    expect(plan.effects).toContainEqual(
      expect.objectContaining({ kind: 'interrupt', placements: ['kimi'], seconds: 40 }),
    );
  });

  it('is rescued as a group', () => {
    const [rescue, ...others] = planFor({ rack: { ranks: all } }).rescues;
    expect(others).toEqual([]);
    expect(rescue?.group).toBe('kimi');
    const steps = ['studio-1', 'studio-2', 'studio-3'].map((node) => `${node}/placement/kimi/rescue`);
    expect(rescue?.steps.map(({ id }) => id)).toEqual(steps);
  });

  it('waits for RDMA only if it uses RDMA', () => {
    const values = { 'studio-2': { 'rdma-state': 'disabled', 'rdma-devices': [] } } as const;
    const rack: MeshRack = { ranks: {} };
    expect(waitsFor(planFor({ rack, values }))).toEqual([]);
    const desired = meshFleet({ placement: { transport: 'rdma' } });
    expect(waitsFor(planFor({ desired, rack, values }))).toEqual(['rdma/disabled on studio-2']);
  });

  it('waits for an unobserved node', () => {
    const plan = planFor({ rack: { ranks: all, unreachable: ['studio-3'] } });
    expect(plan.steps.filter(({ resource }) => resource === 'placement')).toEqual([]);
    expect(plan.waiting.filter(({ resource }) => resource === 'placement/kimi')).toMatchObject([{ isUnknown: true }]);
  });

  it('waits if its launch budget is spent, and shows the command to enter', () => {
    const ranks = threeRanks(['joined', 'exited', 'joined'], { startedIn: 'BOOT-studio-2', starts: 3 });
    const plan = planFor({ desired: meshFleet({ placement: { transport: 'rdma' } }), rack: { ranks } });
    expect(waitsFor(plan)).toContain('mesh/launch-budget on studio-2');
    const blockers = blockersOf(plan, 'mesh/launch-budget');
    expect(blockers).toMatchObject([{ node: 'studio-2', blocks: ['studio-1 placement/kimi'] }]);
    expect(plan.steps.filter(({ resource }) => resource === 'placement')).toEqual([]);
  });

  it('is started beyond its launch budget if that is allowed by name, as a separate effect', () => {
    const ranks = threeRanks(['joined', 'exited', 'joined'], { startedIn: 'BOOT-studio-2', starts: 3 });
    const desired = meshFleet({ placement: { transport: 'rdma' } });
    const plan = planFor({ desired: { ...desired, mayPassBudget: true }, rack: { ranks } });
    expect(waitsFor(plan)).toEqual([]);
    expect(plan.effects).toContainEqual({ kind: 'rdma-start', nodes: ['studio-2'], placements: ['kimi'] });
    expect(effectTexts(plan)).toContain('starts kimi beyond the launch budget of studio-2');
    expect(plan.configHash).toBe(planFor({ desired, rack: { ranks } }).configHash);
  });

  it('is restarted once if it came back over TCP instead of RDMA, and then waits for a person', () => {
    const desired = llamaFleet({ placement: { transport: 'rdma' } });
    const planWith = (changes: Partial<RecordedRank>, goal?: Goal): Plan => {
      const ranks = Object.fromEntries(
        Object.entries(threeRanks(['joined', 'joined', 'joined'], { starts: 1 })).map(([node, ranks]) => [
          node,
          ranks.map((one) => ({ ...one, startedIn: `BOOT-${node}`, changes })),
        ]),
      );
      return planFor({ desired, rack: { ranks }, ...(goal && { goal }) });
    };
    const accepted = 'Accepted client connection';
    const kicksOf = (plan: Plan): readonly unknown[] =>
      plan.steps.flatMap(({ act }) => (act.kind === 'script' && act.name === 'kick-rank' ? [act.args] : []));
    const first = planWith({ said: [accepted] });
    expect(kicksOf(first)).toMatchObject([{ lastTalked: 'tcp' }, { lastTalked: 'tcp' }, { lastTalked: 'tcp' }]);
    const again = planWith({ said: [accepted], lastTalked: 'tcp' });
    expect(again.steps.filter(({ resource }) => resource === 'placement')).toEqual([]);
    const blockers = blockersOf(again, 'mesh/stays-on-tcp');
    expect(blockers).toMatchObject([{ node: 'studio-1', blocks: ['studio-1 placement/kimi'] }]);
    const withReason = planWith({ said: [accepted, 'RDMA activate failed, staying on TCP'], lastTalked: 'tcp' });
    expect(plainText(withReason.blockers[0]?.action ?? '')).toContain('(studio-1 logged "RDMA activate failed,');
    const stop = planWith({ said: [accepted], lastTalked: 'tcp' }, { kind: 'stop', placements: ['kimi'] });
    expect(stop.blockers).toEqual([]);
    expect(stop.steps.length).toBeGreaterThan(0);
  });

  it('is stopped even if a start would be impossible', () => {
    const ranks = threeRanks(['joined', 'joined', 'joined']);
    const values = Object.fromEntries(nodes.map((node) => [node, { trees: [] }]));
    const plan = planFor({ rack: { ranks }, values, goal: { kind: 'stop', placements: ['kimi'] } });
    const stops = ['studio-1', 'studio-2', 'studio-3'].map((node) => `${node}/placement/kimi/stop`);
    expect(plan.steps.map(({ id }) => id)).toEqual([...stops, 'studio-1/placement/kimi/stopped']);
  });

  it('keeps running while a different placement is stopped', () => {
    const desired = meshFleet();
    const [kimi] = desired.placements;
    const placements = kimi === undefined ? [] : [kimi, { ...kimi, name: 'other', endpointPort: 8_081 }];
    const ranks = threeRanks(['joined', 'joined', 'joined']);
    const plan = planFor({
      desired: { ...desired, placements },
      rack: { ranks },
      goal: { kind: 'stop', placements: ['other'] },
    });
    expect(plan.steps).toEqual([]);
  });
});

onOnePage('placement-plan');
