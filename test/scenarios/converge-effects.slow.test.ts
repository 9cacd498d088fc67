import { beforeAll, describe, expect, it } from 'vitest';
import { nodeName } from '../../src/model/node.ts';
import type { Goal } from '../../src/rack/goal.ts';
import { shared } from '../rack/kept-running.ts';
import { unnamedEffects } from './converge-effects.ts';
import { first, second } from './converge-file.ts';
import { type Applied, patience, startConvergeRack } from './converge-rack.ts';
import { keepersAtRest } from './keepers-at-rest.ts';

const rack = shared(() => startConvergeRack('effects'));
beforeAll(async () => {
  await rack.converge();
}, patience);

const nodes = [first, second].map(nodeName);
const placements = ['chat'];

/** Runs a goal to its end. The rack compares its real effects with those that the plan lists. */
async function reach(goal: Goal): Promise<Applied> {
  const applied = await rack.apply({ goal });
  const outcomes = applied.report?.steps.map(({ outcome }) => outcome) ?? [];
  expect(outcomes.every((outcome) => outcome === 'changed' || outcome === 'unchanged')).toBe(true);
  expect(outcomes.length).toBeGreaterThan(0);
  return applied;
}

const kinds = ({ plan }: Applied): readonly string[] => plan.effects.map(({ kind }) => kind);

describe("a plan's listed effects", { timeout: patience }, () => {
  // The last test compares the effects of the tests before it, so it does not run alone.
  it('cover everything that stopping and starting a placement disturbs', async () => {
    expect(kinds(await reach({ kind: 'stop', placements }))).toEqual(['interrupt']);
    await keepersAtRest(rack.fleet());
    expect(rack.fleet().processes()).toEqual([]);
    expect(kinds(await reach({ kind: 'start', placements }))).toEqual(['start']);
    await keepersAtRest(rack.fleet());
    expect(rack.fleet().processes()).toHaveLength(2);
  });

  it('cover everything that restarting each Mac disturbs', async () => {
    expect(kinds(await reach({ kind: 'reboot', nodes }))).toEqual(['interrupt', 'reboot']);
    const reboots = rack
      .fleet()
      .effects()
      .filter(({ kind }) => kind === 'reboot');
    expect(reboots.map(({ node }) => node).sort()).toEqual([first, second]);
    await rack.converge();
  });

  it('are reported as missing if there is no plan to compare', async () => {
    const effects = rack.fleet().effects();
    const unnamed = unnamedEffects(effects, [], await rack.observe()).join('\n');
    for (const kind of ['"kickstart"', '"reboot"', '"bootout"']) expect(unnamed).toContain(kind);
  });
});
