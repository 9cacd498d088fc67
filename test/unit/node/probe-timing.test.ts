import { describe, expect, it } from 'vitest';
import { allProbes } from '../../../src/engine/observe/facts.ts';
import type { Probe } from '../../../src/model/probe.ts';
import { observationCeilingMs, observeScript, probeTiming } from '../../../src/node/observe-script.ts';
import { tool } from '../../../src/node/paths/node-paths.ts';

const boundary = '0123456789abcdef0123456789abcdef';
const slow: Probe = { name: 'slow', ask: [tool.swVers], deadlineMs: 20_000, maxBytes: 100 };
const quick: Probe = { ...slow, name: 'quick', deadlineMs: 5_000 };
const script = (budgetMs: number): string => observeScript({ probes: allProbes(), boundary, rootPrefix: '', budgetMs });

describe('an observation with a time budget', () => {
  it.each([1_000, 1_500, 3_000, 5_000, 8_000, 13_000, 20_000, 27_900, 60_000])(
    'ends before a budget of %d ms, whatever hangs',
    (budgetMs) => {
      expect(observationCeilingMs({ probes: allProbes(), budgetMs })).toBeLessThan(budgetMs);
    },
  );

  it('does not change probe deadlines that fit in the budget', () => {
    expect(probeTiming({ probes: allProbes(), budgetMs: 27_900 })).toEqual(probeTiming({ probes: allProbes() }));
  });

  it('shortens only the deadlines that exceed the budget', () => {
    const { moments } = probeTiming({ probes: [slow, quick], budgetMs: 20_000 });
    expect(moments.map(({ atMs, signal, ids }) => [atMs, signal, ids])).toEqual([
      [5_000, 'ALRM', [2]],
      [6_000, 'KILL', [2]],
      [15_000, 'ALRM', [1]],
      [16_000, 'KILL', [1]],
    ]);
  });

  it('gives a probe at least 0.1 s, even with a negative budget', () => {
    expect(probeTiming({ probes: [slow], budgetMs: -5 }).moments[0]?.atMs).toBe(100);
  });

  it('gives the same script for slightly different budgets', () => {
    expect(script(27_950)).toBe(script(27_100));
    expect(script(9_999)).toBe(script(9_001));
  });
});
