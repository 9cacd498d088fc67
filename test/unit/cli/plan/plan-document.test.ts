import { describe, expect, it } from 'vitest';
import { isSamePlan, planDifferences, planDocument, targetsIn } from '../../../../src/cli/plan/plan-document.ts';
import { diagnose } from '../../../../src/diagnostics/diagnose.ts';
import { known, unknown } from '../../../../src/model/known.ts';
import { nodeName } from '../../../../src/model/node.ts';
import type { NodeBudget } from '../../../../src/rack/placement/placement-blockers.ts';
import { schemaCheck } from '../../../cli/schema-check.ts';
import { change, emptyPlan, stepOn } from '../../../rack/plans.ts';

const plan = emptyPlan({
  changes: [change('studio-1', 'power/sleep', 'a', 'b')],
  steps: [stepOn('studio-1', 'power/set')],
});
const about = { isSimulated: true, additions: ['link a: 10.77.0.0/30'], targets: ['studio-1'] };
const saved = planDocument(plan, about);

describe('a saved plan', () => {
  it('is what its schema says, with what it was made for', () => {
    expect(schemaCheck('plan')(JSON.parse(saved))).toEqual([]);
    expect(JSON.parse(saved)).toMatchObject({
      simulated: true,
      targets: ['studio-1'],
      lock: { additions: about.additions },
    });
    expect(targetsIn(saved)).toEqual(['studio-1']);
    expect(targetsIn(planDocument(plan, { isSimulated: false, additions: [] }))).toBe('all');
  });

  it('is the same as another one whatever the order of keys and what is only told', () => {
    const shuffled = JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(saved)).reverse()));
    expect(isSamePlan(shuffled, saved)).toBe(true);
    const told = { ...plan, diagnostics: [diagnose('cli/usage', { detail: 'x' })] };
    expect(isSamePlan(saved, planDocument(told, about))).toBe(true);
  });

  it('tells the launches over RDMA of each node that are known, and is the same whatever they are', () => {
    const budgets: readonly NodeBudget[] = [
      { node: nodeName('studio-1'), budget: known({ taken: 2, limit: 10, isAssumed: false, isCounted: false }) },
      { node: nodeName('studio-2'), budget: unknown('unreachable', 'nobody answered') },
    ];
    const counted = planDocument(plan, { ...about, budgets });
    expect(schemaCheck('plan')(JSON.parse(counted))).toEqual([]);
    expect(JSON.parse(counted)).toMatchObject({
      launches: { 'studio-1': { starts: 2, limit: 10, assumed: false, source: 'kernel' } },
    });
    expect(Object.keys(JSON.parse(counted).launches)).toEqual(['studio-1']);
    expect(JSON.parse(saved)).not.toHaveProperty('launches');
    expect(isSamePlan(counted, saved)).toBe(true);
  });

  it('names the first changes in which another one differs, else the parts', () => {
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
    ['what was observed', { ...plan, observed: {} }, about],
    ['what is simulated', plan, { ...about, isSimulated: false }],
    ['its nodes', plan, { ...about, targets: ['studio-2'] }],
    ['the lock', plan, { ...about, additions: [] }],
  ] as const)('is another one when %s differs (case 55)', (_what, other, surroundings) => {
    expect(isSamePlan(saved, planDocument(other, surroundings))).toBe(false);
  });

  it.each(['', '[]', 'null', '{}', '{"formatVersion":2,"steps":[]}', 'plan'])('is none when it is %j', (text) => {
    expect(isSamePlan(text, saved)).toBeUndefined();
    expect(targetsIn(text)).toBeUndefined();
  });
});
