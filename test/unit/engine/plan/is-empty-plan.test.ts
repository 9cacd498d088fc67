import { describe, expect, it } from 'vitest';
import type { Plan } from '../../../../src/engine/plan/plan.ts';
import { isEmptyPlan } from '../../../../src/engine/plan/plan.ts';

describe('isEmptyPlan', () => {
  it('is true only without changes, steps, waiting resources and blockers', () => {
    const plan = (...counts: readonly number[]): Plan => {
      const [changes, steps, waiting, blockers] = counts.map((length) => Array.from({ length }));
      return { changes, steps, waiting, blockers } as unknown as Plan;
    };
    const some = [0, 1, 2];
    const all = some.flatMap((a) => some.flatMap((b) => some.flatMap((c) => some.map((d) => [a, b, c, d]))));
    expect(all.filter((counts) => isEmptyPlan(plan(...counts)))).toEqual([[0, 0, 0, 0]]);
  });
});
