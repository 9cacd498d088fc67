import { describe, expect, it } from 'vitest';
import { isEmptyPlan } from '../../../../src/engine/plan/plan.ts';
import { identityDigest } from '../../../../src/model/facts/mac.ts';
import { changed, planFor, stepIds } from '../../../rack/plans.ts';
import { desiredFleet } from '../../../rack/rack.ts';
import { onOnePage } from '../../one-page.ts';

describe('a plan', () => {
  it('is empty for a rack that matches the file', () => {
    const plan = planFor({});
    expect(plan).toMatchObject({ changes: [], steps: [], waiting: [], blockers: [], effects: [] });
    expect(isEmptyPlan(plan)).toBe(true);
  });

  it('changes only the differing property on its node', () => {
    const power = { sleepMinutes: 10, diskSleepMinutes: 0, restartAfterPowerLoss: true };
    const plan = planFor({ rack: { values: { 'studio-2': { power } } } });
    expect(changed(plan)).toEqual(['studio-2 power/sleep']);
    expect(stepIds(plan)).toEqual(['studio-2/power/set']);
    expect(plan.steps[0]).toMatchObject({
      act: { kind: 'script', name: 'set-power', args: { sleepMinutes: 0 } },
      establishes: [{ node: 'studio-2', address: 'power/sleep', value: 0 }],
      effect: { kind: 'none' },
    });
  });

  it('does not change any node while one Mac differs from the lock', () => {
    const desired = desiredFleet();
    const identity = identityDigest({ serial: 'SERSTUDIO3', hardwareUuid: 'UUID-of-another' });
    const nodes = desired.nodes.map((node) => (node.name === 'studio-3' ? { ...node, identity } : node));
    const power = { sleepMinutes: 10, diskSleepMinutes: 0, restartAfterPowerLoss: true };
    const plan = planFor({ desired: { ...desired, nodes }, rack: { values: { 'studio-2': { power } } } });
    expect(plan).toMatchObject({ changes: [], steps: [], blockers: [{ code: 'identity/wrong-mac' }] });
    expect(plan.waiting.map(({ node, resource }) => `${node} ${resource}`)).toEqual(['studio-2 power/sleep']);
  });
});

onOnePage('make-plan');
