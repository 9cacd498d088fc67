import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isFull } from '../is-full.ts';
import { chooseKills, kindsOf, stepsWithout } from './kill/choose-kills.ts';
import { killScenarios, settings, trees } from './kill/scenarios.ts';
import { type KillBench, openBench } from './kill/try-kills.ts';

let bench: KillBench;
beforeAll(async () => {
  bench = await openBench('kill-apply');
}, 60_000);
afterAll(() => bench.stop());

const limitMs = isFull ? 1_200_000 : 120_000;

describe.each([settings, trees])('a controller that is killed in $name', (scenario) => {
  it('leaves nothing that the next apply does not bring to the same end', { timeout: limitMs }, async () => {
    const rehearsal = await bench.rehearse(scenario);
    const { plans, points } = rehearsal;
    expect(kindsOf(plans)).toEqual({ classes: scenario.classes, acts: scenario.acts });
    expect(stepsWithout(plans, points)).toEqual([]);
    expect(await bench.tryAll(scenario, rehearsal, chooseKills(points, 2))).toEqual([]);
  });
});

describe('the verbs that are killed', () => {
  it('have steps of every class and of every kind together', () => {
    const all = <T>(values: (one: (typeof killScenarios)[number]) => readonly T[]): readonly T[] =>
      [...new Set(killScenarios.flatMap(values))].sort();
    expect(all(({ classes }) => classes)).toEqual(['converge', 'job', 'manual', 'once', 'probe']);
    expect(all(({ acts }) => acts)).toEqual([
      'ask',
      'gate',
      'hands',
      'job',
      'put',
      'reboot',
      'script',
      'send',
      'transaction',
    ]);
  });
});
