import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isThorough } from '../../sample.ts';
import { chooseKills, kindsOf, stepsWithout } from './choose-kills.ts';
import type { KillScenario } from './scenarios.ts';
import { type KillBench, openBench } from './try-kills.ts';

/** Ends a run that makes no progress. No computer is this slow. */
const limitMs = isThorough ? 3_600_000 : 600_000;

/** Kills the controllers of these scenarios at every point of their rehearsal, for each successor. */
export function describeKills(seed: string, scenarios: readonly KillScenario[]): void {
  let bench: KillBench;
  beforeAll(async () => {
    bench = await openBench(seed);
  }, limitMs);
  afterAll(() => bench.stop(), limitMs);

  const named = scenarios.map((scenario) => [scenario.name, scenario] as const);
  describe.each(named)('a controller that is killed in %s', (_name, scenario) => {
    it('leaves a state that the next apply completes', { timeout: limitMs }, async () => {
      const rehearsal = await bench.rehearse(scenario);
      const { plans, points } = rehearsal;
      expect(kindsOf(plans)).toEqual({ classes: scenario.classes, acts: scenario.acts });
      expect(stepsWithout(plans, points)).toEqual([]);
      const chosen = chooseKills(points);
      const { done, bad } = await bench.tryAll(scenario, rehearsal, chosen);
      expect(bad).toEqual([]);
      expect(new Set(done).size).toBe(chosen.length);
    });
  });
}
