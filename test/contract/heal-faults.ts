import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { diagnoseFleet } from '../../src/doctor/diagnose-fleet.ts';
import { faultNames } from '../../src/sim/faults.ts';
import type { RunningFleet } from '../../src/sim/host/running-fleet.ts';
import { type ConvergeRack, changesIn, leftIn, patience } from '../scenarios/converge-rack.ts';
import { type Cure, faultCures } from './fault-cures.ts';

type Rack = ConvergeRack<RunningFleet>;

const curedBy = (kind: Exclude<Cure['kind'], 'verb'>) =>
  faultNames.flatMap((fault) => {
    const cure = faultCures[fault];
    return cure.kind === kind ? [[fault, cure.target] as const] : [];
  });

/** What the product finds wrong with the rack. */
const found = async (rack: Rack): Promise<readonly string[]> =>
  diagnoseFleet(rack.desired(), await rack.observe()).map(({ code }) => code);

async function breakBy(rack: Rack, fault: string, target: string): Promise<void> {
  await rack.behindOurBack(async (fleet) => {
    expect(await fleet.setFault([fault, target])).toMatchObject({ kind: 'done' });
  });
  expect(await found(rack)).not.toEqual([]);
}

/** The file holds again, and nothing is found. */
async function expectWhole(rack: Rack): Promise<void> {
  expect(await found(rack)).toEqual([]);
  expect(leftIn(await rack.plan())).toEqual([]);
}

/** A converged rack that each test breaks once; made anew after a test that left it broken. */
function brokenInTurn(start: () => Promise<Rack>) {
  let rack: Rack | undefined;
  const ready = async (): Promise<Rack> => {
    rack ??= await start();
    await rack.converge();
    return rack;
  };
  return {
    ready,
    stop: async () => rack?.stop(),
    /** Runs a test on the rack, and gives the rack up when it fails. */
    on: async (test: (rack: Rack) => Promise<void>): Promise<void> => {
      const one = await ready();
      try {
        await test(one);
        await expectWhole(one);
      } catch (error) {
        rack = undefined;
        await one.stop().catch(() => undefined);
        throw error;
      }
    },
  };
}

/** Declares the tests that end every fault on a rack of one host, as `fault-cures.ts` says. */
export function describeHealing(host: string, start: () => Promise<Rack>): void {
  describe(`a broken rack on the ${host} host`, { timeout: patience }, () => {
    const { ready, stop, on } = brokenInTurn(start);
    beforeAll(ready, patience);
    afterAll(stop);

    it.each(curedBy('apply'))('with %s on %s is healed by apply, and then there is nothing to do', (fault, target) =>
      on(async (rack) => {
        await breakBy(rack, fault, target);
        const { plan } = await rack.converge();
        expect([changesIn(plan).length > 0, plan.blockers]).toEqual([true, []]);
      }),
    );

    it.each(curedBy('hands'))('with %s on %s is healed by hands, and by apply what follows', (fault, target) =>
      on(async (rack) => {
        await breakBy(rack, fault, target);
        const { plan } = await rack.apply();
        expect(changesIn(plan)).toEqual([]);
        await rack.behindOurBack((fleet) => fleet.hands());
        await rack.converge();
      }),
    );

    it.each(curedBy('person'))('with %s on %s is told of, and left to whoever can mend it', (fault, target) =>
      on(async (rack) => {
        await breakBy(rack, fault, target);
        const { plan } = await rack.apply();
        expect(changesIn(plan)).toEqual([]);
        await rack.behindOurBack((fleet) => fleet.clearFault([fault]));
        const { plan: mended } = await rack.apply();
        expect(changesIn(mended)).toEqual([]);
      }),
    );
  });
}
