import { describe, expect, it } from 'vitest';
import { isSamePlan, planDifferences, planDocument, targetsIn } from '../../../../src/cli/plan/plan-document.ts';
import { diagnose } from '../../../../src/diagnostics/diagnose.ts';
import { known, unknown } from '../../../../src/model/known.ts';
import { nodeName } from '../../../../src/model/node.ts';
import type { NodeBudget } from '../../../../src/rack/placement/placement-blockers.ts';
import { schemaCheck } from '../../../cli/schema-check.ts';
import { change, emptyPlan, stepOn } from '../../../rack/plans.ts';

const sleep = change('studio-1', 'power/sleep', 'a', 'b');
const plan = emptyPlan({ changes: [sleep], steps: [stepOn('studio-1', 'power/set')] });
const about = { isSimulated: true, additions: ['link a: 10.77.0.0/30'], targets: ['studio-1'] };
const saved = planDocument(plan, about);

describe('a saved plan', () => {
  it('matches its schema, and lists its targets', () => {
    expect(schemaCheck('plan')(JSON.parse(saved))).toEqual([]);
    const { targets, additions } = about;
    expect(JSON.parse(saved)).toMatchObject({ simulated: true, targets, lock: { additions } });
    expect(targetsIn(saved)).toEqual(['studio-1']);
    expect(targetsIn(planDocument(plan, { isSimulated: false, additions: [] }))).toBe('all');
  });

  it('equals a plan with keys in a different order or with different diagnostics', () => {
    const shuffled = JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(saved)).reverse()));
    expect(isSamePlan(shuffled, saved)).toBe(true);
    const diagnosed = { ...plan, diagnostics: [diagnose('cli/usage', { detail: 'x' })] };
    expect(isSamePlan(saved, planDocument(diagnosed, about))).toBe(true);
  });

  it('lists known launches over RDMA, which do not make it different', () => {
    const budgets: readonly NodeBudget[] = [
      { node: nodeName('studio-1'), budget: known({ taken: 2, limit: 10, isAssumed: false, isCounted: false }) },
      { node: nodeName('studio-2'), budget: unknown('unreachable', 'no answer') },
    ];
    const counted = planDocument(plan, { ...about, budgets });
    expect(schemaCheck('plan')(JSON.parse(counted))).toEqual([]);
    const launches = { 'studio-1': { starts: 2, limit: 10, assumed: false, source: 'kernel' } };
    expect(JSON.parse(counted).launches).toEqual(launches);
    expect(JSON.parse(saved)).not.toHaveProperty('launches');
    expect(isSamePlan(counted, saved)).toBe(true);
  });

  it('shows its first differing changes, or else its differing parts, in a comparison', () => {
    const changes = ['a', 'b', 'c'].map((name) => change('studio-2', `files/${name}`, 'x', 'y'));
    const other = planDocument({ ...plan, changes }, about);
    expect(planDifferences(saved, other)).toEqual([
      'new: studio-2 files/a: x -> y',
      'new: studio-2 files/b: x -> y',
      'new: studio-2 files/c: x -> y',
      '1 more',
    ]);
    expect(planDifferences(saved, planDocument({ ...plan, changes: [] }, about))).toEqual([
      'gone: studio-1 power/sleep: a -> b',
    ]);
    expect(planDifferences(saved, planDocument({ ...plan, steps: [] }, about))).toEqual([
      'the changes are the same, but these parts differ: steps',
    ]);
  });

  it.each([
    ['a step', { ...plan, steps: [] }, about],
    ['the observation', { ...plan, observed: {} }, about],
    ['the simulation', plan, { ...about, isSimulated: false }],
    ['the list of targets', plan, { ...about, targets: ['studio-2'] }],
    ['the lock', plan, { ...about, additions: [] }],
  ] as const)('is a different plan if %s differs', (_what, other, surroundings) => {
    expect(isSamePlan(saved, planDocument(other, surroundings))).toBe(false);
  });

  it.each(['', '[]', 'null', '{}', '{"formatVersion":2,"steps":[]}', 'plan'])(
    'is invalid if its text is %j',
    (text) => {
      expect(isSamePlan(text, saved)).toBeUndefined();
      expect(targetsIn(text)).toBeUndefined();
    },
  );
});
