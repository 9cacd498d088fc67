import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Controller } from '../../src/apply/lease/controller.ts';
import type { RunReport } from '../../src/apply/open-run.ts';
import type { Plan } from '../../src/engine/plan/plan.ts';
import { shared } from '../rack/kept-running.ts';
import { controller, keptJournal, quickTiming } from './apply-rack.ts';
import { first, pairFile, second } from './converge-file.ts';
import { startConvergeRack } from './converge-rack.ts';
import { runPlan } from './run-plan.ts';

const file = pairFile((value) => {
  value['placements'] = {};
});
const rack = shared(() => startConvergeRack('two controllers', file));
beforeAll(async () => {
  await rack.converge();
  await rack.behindOurBack(async (fleet) => {
    for (const node of [first, second]) await fleet.setFault(['power-wrong', node]);
  });
});

const run = (plan: Plan, who: Controller, verb: string): Promise<RunReport> =>
  runPlan(plan, {
    ways: rack.ways(),
    desired: rack.desired(),
    verb,
    controller: who,
    journal: keptJournal(`run-of-${verb}`),
    parallel: 16,
    newBoundary: () => randomBytes(16).toString('hex'),
    timing: { ...quickTiming, leaseExpiryMs: 3_600_000 },
    leaseWaitMs: 0,
    deadlineMs: 30_000,
    onEvent: () => undefined,
  });

describe('two simultaneous controllers', () => {
  it('let one run, and show the other who is running which command and since when', async () => {
    const plan = await rack.plan();
    expect(plan.steps.length).toBeGreaterThan(0);
    const runs = [
      run(plan, controller('aaaaaaaaaaaa'), 'apply'),
      run(plan, controller('bbbbbbbbbbbb'), 'restart'),
    ] as const;
    // The run with the leases gets no answer to its first step until the other run has ended.
    const oneEnded = Promise.race(runs);
    const release = rack.fleet().onExec(async ({ input }) => {
      if (input.includes(' step=')) await oneEnded;
    });
    const reports = await rack.behindOurBack(() => Promise.all(runs));
    release();
    const [winner, loser] = reports.toSorted((one, other) => one.refusals.length - other.refusals.length);
    expect(winner?.steps.map(({ outcome }) => outcome)).toEqual(plan.steps.map(() => 'changed'));
    expect(loser?.steps.map(({ outcome }) => outcome)).toEqual(plan.steps.map(() => 'skipped'));
    const isApply = winner === reports[0];
    expect(loser?.refusals).toMatchObject([
      {
        holder: {
          run: isApply ? 'run-of-apply' : 'run-of-restart',
          owner: isApply ? 'ana@desk-aa' : 'ana@desk-bb',
          verb: isApply ? 'apply' : 'restart',
          since: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
        },
      },
    ]);
    expect(loser?.diagnostics.map(({ code }) => code)).toEqual(['lease/held']);
  });
});
