import { describe, expect, it } from 'vitest';
import { isEmptyPlan } from '../../../src/plan/is-empty-plan.ts';
import { onOnePage } from '../one-page.ts';
import { changed, planFor, stepIds } from './plan-builder.ts';

describe('a plan', () => {
  it('is empty for a rack that is as the file says', () => {
    const plan = planFor({});
    expect(plan).toMatchObject({ changes: [], steps: [], waiting: [], blockers: [], effects: [] });
    expect(isEmptyPlan(plan)).toBe(true);
  });

  it('changes only what differs, on the node where it differs', () => {
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
});

onOnePage('make-plan');
