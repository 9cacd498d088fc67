import { describe, expect, it } from 'vitest';
import { planDifferences, planDocument, requireSame } from '../../../../src/cli/plan/plan-document.ts';
import { diagnose } from '../../../../src/diagnostics/diagnose.ts';
import { known, unknown } from '../../../../src/model/known.ts';
import { nodeName } from '../../../../src/model/node.ts';
import type { NodeBudget } from '../../../../src/rack/placement/placement-blockers.ts';
import { schemaCheck } from '../../../cli/schema-check.ts';
import { change, emptyPlan, stepOn } from '../../../rack/plans.ts';
import { problemsOf } from '../../problems-of.ts';

const sleep = change('studio-1', 'power/sleep', 'a', 'b');
const plan = emptyPlan({ changes: [sleep], steps: [stepOn('studio-1', 'power/set')] });
const about = { isSimulated: true, additions: ['link a: 10.77.0.0/30'], targets: ['studio-1'] };
const saved = planDocument(plan, about);

const isSame = (text: string, current: string): boolean => {
  const act = () => requireSame({ shown: 'plan.json', document: JSON.parse(text) }, current);
  return problemsOf(act).length === 0;
};

const differences = (current: string) => planDifferences(JSON.parse(saved), JSON.parse(current));

describe('a saved plan', () => {
  it('matches its schema', () => {
    expect(schemaCheck('plan')(JSON.parse(saved))).toEqual([]);
    const { targets, additions } = about;
    expect(JSON.parse(saved)).toMatchObject({ simulated: true, targets, lock: { additions } });
  });

  it('equals a plan with keys in a different order or with different diagnostics', () => {
    const shuffled = JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(saved)).reverse()));
    expect(isSame(shuffled, saved)).toBe(true);
    const diagnosed = { ...plan, diagnostics: [diagnose('cli/usage', { detail: 'x' })] };
    expect(isSame(saved, planDocument(diagnosed, about))).toBe(true);
  });

  it('lists the known launches over RDMA, which are ignored when plans are compared', () => {
    const budgets: readonly NodeBudget[] = [
      { node: nodeName('studio-1'), budget: known({ taken: 2, limit: 10, isAssumed: false, isCounted: false }) },
      { node: nodeName('studio-2'), budget: unknown('unreachable', 'no answer') },
    ];
    const counted = planDocument(plan, { ...about, budgets });
    expect(schemaCheck('plan')(JSON.parse(counted))).toEqual([]);
    const launches = { 'studio-1': { starts: 2, limit: 10, assumed: false, source: 'kernel' } };
    expect(JSON.parse(counted).launches).toEqual(launches);
    expect(JSON.parse(saved)).not.toHaveProperty('launches');
    expect(isSame(counted, saved)).toBe(true);
  });

  it('shows its first differing changes, or else its differing parts, in a comparison', () => {
    const changes = ['a', 'b', 'c'].map((name) => change('studio-2', `files/${name}`, 'x', 'y'));
    const other = planDocument({ ...plan, changes }, about);
    expect(differences(other)).toEqual([
      'new: studio-2 files/a: x -> y',
      'new: studio-2 files/b: x -> y',
      'new: studio-2 files/c: x -> y',
      '1 more',
    ]);
    expect(differences(planDocument({ ...plan, changes: [] }, about))).toEqual(['gone: studio-1 power/sleep: a -> b']);
    expect(differences(planDocument({ ...plan, steps: [] }, about))).toEqual([
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
    expect(isSame(saved, planDocument(other, surroundings))).toBe(false);
  });
});
