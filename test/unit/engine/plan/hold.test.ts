import { describe, expect, it } from 'vitest';
import { judgeHolds } from '../../../../src/desired/resolve.ts';
import type { Plan } from '../../../../src/engine/plan/plan.ts';
import type { DesiredFleet } from '../../../../src/model/desired.ts';
import type { NodeHold } from '../../../../src/model/facts/node-records.ts';
import { nodeName } from '../../../../src/model/node.ts';
import { dayOf, isDayOver } from '../../../../src/model/text/units.ts';
import type { Goal } from '../../../../src/rack/goal.ts';
import { meshFleet, observeMesh, threeRanks } from '../../../rack/placements.ts';
import { changed, makePlan, planFor, stepIds } from '../../../rack/plans.ts';
import {
  desiredFleet,
  observedFleet,
  type RackChanges,
  settledFacts,
  settledFleet,
  settledValues,
} from '../../../rack/rack.ts';
import { asText } from '../../as-text.ts';
import { onOnePage } from '../../one-page.ts';

const power = { sleepMinutes: 10, diskSleepMinutes: 0, restartAfterPowerLoss: true };
const hold: NodeHold = { reason: 'power supply', by: 'ana@laptop', since: '2026-11-21', isOver: false };
const codes = (plan: Plan): readonly string[] => plan.diagnostics.map(({ code }) => code);

/** A plan for a rack that otherwise matches the file. */
function settledPlan(goal: Goal, values: RackChanges['values'] = {}): Plan {
  const desired = settledFleet();
  const all = Object.entries(settledValues()).map(([name, facts]) => [name, { ...facts, ...values[name] }]);
  const observation = observedFleet({ values: Object.fromEntries(all) });
  return makePlan({ goal, desired, observation, targets: desired.nodes.map(({ name }) => name) });
}

const heldByFile = (until: string): DesiredFleet => {
  const fleet = desiredFleet();
  const nodes = fleet.nodes.map((node) =>
    node.name === 'studio-2' ? { ...node, hold: { reason: 'power supply', until } } : node,
  );
  return { ...fleet, nodes };
};

describe('a node on hold', () => {
  it('waits while other nodes are changed, and shows the command that ends the hold', () => {
    const rack = { values: { 'studio-1': { power }, 'studio-2': { power, hold: [hold] } } };
    const plan = planFor({ rack });
    expect([changed(plan), stepIds(plan)]).toEqual([['studio-1 power/sleep'], ['studio-1/power/set']]);
    expect(plan.waiting).toMatchObject([
      { resource: 'power/sleep', node: 'studio-2', for: [{ text: 'hold/held on studio-2' }], isUnknown: false },
    ]);
    expect(plan.blockers.map((one) => asText(one))).toMatchObject([
      {
        code: 'hold/held',
        node: 'studio-2',
        isHands: false,
        blocks: ['studio-2 power/sleep'],
        action: 'studio-2 is on hold (power supply). To end the hold: meshwright release studio-2',
      },
    ]);
  });

  it('is only reported if nothing waits for it', () => {
    const plan = planFor({ rack: { values: { 'studio-2': { hold: [hold] } } } });
    expect([plan.blockers, plan.waiting, codes(plan)]).toEqual([[], [], ['hold/held']]);
  });

  it('stays unchanged through the last day of the hold in the file', () => {
    const rack = { values: { 'studio-2': { power } } };
    const during = judgeHolds(heldByFile('2026-12-01'), Date.UTC(2026, 11, 1, 23));
    const after = judgeHolds(heldByFile('2026-12-01'), Date.UTC(2026, 11, 2));
    const [held, free] = [during, after].map((desired) => planFor({ desired, rack }));
    expect([held && changed(held), held && codes(held)]).toEqual([[], ['hold/held']]);
    expect(held?.blockers[0]?.action).toContain('remove nodes.studio-2.hold from the cluster file');
    expect([free && changed(free), free && codes(free)]).toEqual([['studio-2 power/sleep'], ['hold/expired']]);
  });

  it('can be changed again after the hold stored on the node has expired', () => {
    const over = { ...hold, until: '2026-11-20', isOver: true };
    const plan = planFor({ rack: { values: { 'studio-2': { power, hold: [over] } } } });
    expect([changed(plan), codes(plan)]).toEqual([['studio-2 power/sleep'], ['hold/expired']]);
  });

  it.each<[string, Goal]>([
    ['a stop', { kind: 'stop', placements: ['kimi'] }],
    ['apply', { kind: 'converge' }],
    ['a Mac restart', { kind: 'reboot', nodes: [nodeName('studio-2')] }],
    ["another Mac's shutdown", { kind: 'shutdown', nodes: [nodeName('studio-1')] }],
    [
      'an uninstall',
      { kind: 'uninstall', nodes: [nodeName('studio-2')], placements: ['kimi'], restore: false, models: false },
    ],
  ])('keeps its placements unchanged in %s', (_, goal) => {
    const fleet = {
      ...meshFleet(),
      placements: meshFleet().placements.map((one) => ({ ...one, state: 'stopped' as const })),
    };
    const ranks = threeRanks(['joined', 'running', 'running'], { token: { kind: 'answered', text: 'Hi' } });
    const seen = Object.fromEntries(fleet.nodes.map(({ name }) => [name, settledFacts(name)]));
    const four = Object.fromEntries(
      Object.entries(seen).map(([name, { placements: _p, services: _s, ...facts }]) => [
        name,
        { ...facts, hold: name === 'studio-2' ? [hold] : [] },
      ]),
    );
    const observation = observeMesh(fleet, { ranks, values: four });
    const plan = makePlan({ goal, desired: fleet, observation, targets: fleet.nodes.map(({ name }) => name) });
    const touched = plan.steps.filter(({ node, act }) => node === 'studio-2' && act.kind !== 'hands');
    expect([touched, changed(plan).filter((id) => id.includes('placement/kimi'))]).toEqual([[], []]);
    expect(plan.blockers.map(({ code }) => code)).toContain('hold/held');
  });

  it('stays unchanged while its hold is unknown', () => {
    const plan = planFor({
      rack: { values: { 'studio-2': { power } }, unknown: { 'studio-2': { hold: 'no-privilege' } } },
    });
    expect(changed(plan)).toEqual([]);
  });
});

describe('the hold goal', () => {
  const nodes = [nodeName('studio-2')];
  const { isOver: _, ...said } = hold;

  it('writes only the hold, and nothing if it already exists', () => {
    const goal: Goal = { kind: 'hold', nodes, hold: said };
    const plan = settledPlan(goal, { 'studio-2': { power } });
    expect(plan.steps.map(({ act, effect }) => [act, effect.kind])).toEqual([
      [{ kind: 'script', name: 'set-hold', args: said }, 'none'],
    ]);
    expect(settledPlan(goal, { 'studio-2': { hold: [hold] } }).steps).toEqual([]);
    const longer: Goal = { kind: 'hold', nodes, hold: { ...said, until: '2027-01-01' } };
    expect(stepIds(settledPlan(longer, { 'studio-2': { hold: [hold] } }))).toEqual(['studio-2/hold']);
  });

  it('removes the hold on release, even an expired one', () => {
    const goal: Goal = { kind: 'hold', nodes };
    const plan = settledPlan(goal, { 'studio-2': { hold: [{ ...hold, until: '2026-11-20', isOver: true }] } });
    expect(plan.steps.map(({ act }) => act)).toEqual([{ kind: 'script', name: 'clear-hold', args: {} }]);
    expect(settledPlan(goal).steps).toEqual([]);
  });
});

describe("a hold's last day", () => {
  it('ends at midnight UTC', () => {
    expect(isDayOver('2026-12-01', Date.UTC(2026, 11, 1, 23, 59, 59))).toBe(false);
    expect(isDayOver('2026-12-01', Date.UTC(2026, 11, 2))).toBe(true);
    expect([isDayOver('soon', Date.UTC(2099, 1, 1)), dayOf(Date.UTC(2026, 11, 1))]).toEqual([false, '2026-12-01']);
  });
});

onOnePage('hold');
