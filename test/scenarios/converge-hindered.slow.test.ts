import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Fleet } from '../../src/sim/hosts/control/start-fleet.ts';
import { type DriftingRack, patternOf, startDriftingRack } from './converge-drifting.ts';
import { drifts } from './converge-drifts.ts';
import { second } from './converge-file.ts';
import { type Hindrance, hindrances } from './converge-hindrances.ts';
import { type ConvergeRack, changesIn, patience } from './converge-rack.ts';

let drifting: DriftingRack;
beforeAll(async () => {
  drifting = await startDriftingRack('hindered');
});
afterAll(() => drifting.stop());

async function breakBy(rack: ConvergeRack, fleet: Fleet, fault: Hindrance['fault']): Promise<void> {
  if ('make' in fault) await rack.asRoot(second, fault.make);
  else await fleet.setFault(fault);
}

const nameOf = (fault: Hindrance['fault']): string => ('make' in fault ? fault.what : fault.join(' '));
const titled = hindrances.map((one) => [one.of, nameOf(one.fault), one] as const);

describe('an obstacle that apply cannot remove', { timeout: patience }, () => {
  it.each(titled)('keeps %s blocked until a person acts: %s', async (_of, _fault, one) => {
    await drifting.ready();
    const rack = drifting.rack();
    await drifting.drift(
      second,
      drifts.filter(({ of }) => of === one.beside),
    );
    await rack.behindOurBack((fleet) => breakBy(rack, fleet, one.fault));
    const { plan, report } = await rack.apply();
    const waiting = plan.waiting.map(({ node, resource }) => `${node} ${patternOf(resource)}`);
    expect([changesIn(plan), plan.blockers.map(({ code }) => code)]).toEqual([[], one.blockers]);
    expect(waiting.sort()).toEqual([...one.waiting].sort());
    expect([plan.effects, report?.steps.filter(({ outcome }) => outcome !== 'blocked') ?? []]).toEqual([[], []]);
    await rack.behindOurBack(async (fleet) => {
      if (one.isForHands) await fleet.hands();
      else if (!('make' in one.fault)) await fleet.clearFault(one.fault);
    });
    const repaired = await rack.converge();
    expect(changesIn(repaired.plan).map(patternOf).sort()).toEqual([...(one.afterwards ?? [])].sort());
    drifting.healed();
  });
});
