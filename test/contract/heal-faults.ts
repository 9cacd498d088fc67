import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { diagnoseFleet } from '../../src/engine/diagnose/diagnose-fleet.ts';
import type { FleetObservation } from '../../src/rack/examination.ts';
import { faultNames } from '../../src/sim/faults/faults.ts';
import type { RunningFleet } from '../../src/sim/hosts/control/start-fleet.ts';
import { type Applied, type ConvergeRack, changesIn, leftIn, patience } from '../scenarios/converge-rack.ts';
import { type Cure, faultCures } from './fault-cures.ts';

type Rack = ConvergeRack<RunningFleet>;

const curedBy = (kind: Exclude<Cure['kind'], 'verb'>) =>
  faultNames.flatMap((fault) => {
    const cure = faultCures[fault];
    return cure.kind === kind ? [[fault, cure.target] as const] : [];
  });

/** What the product finds wrong with the rack at a look. */
const found = (rack: Rack, seen: FleetObservation): readonly string[] =>
  diagnoseFleet(rack.desired(), seen).map(({ code }) => code);

const breakBy = (rack: Rack, fault: string, target: string): Promise<void> =>
  rack.behindOurBack(async (fleet) => {
    expect(await fleet.setFault([fault, target])).toMatchObject({ kind: 'done' });
  });

/** The product found that something is wrong before it did anything. */
const expectFound = (rack: Rack, { looks }: Applied): void => expect(found(rack, looks.first)).not.toEqual([]);

/** The file holds again, and nothing is found. */
function expectWhole(rack: Rack, { looks, after }: Applied): void {
  expect(found(rack, looks.last)).toEqual([]);
  expect(leftIn(after)).toEqual([]);
}

/** A converged rack that each test breaks once; made anew after a test that left it broken. */
function brokenInTurn(start: () => Promise<Rack>) {
  let rack: Rack | undefined;
  const ready = async (): Promise<Rack> => {
    if (rack === undefined) {
      rack = await start();
      await rack.converge();
    }
    return rack;
  };
  return {
    ready,
    stop: async () => rack?.stop(),
    /** Runs a test on the rack, whose last apply has left it whole, and gives the rack up when it fails. */
    on: async (test: (rack: Rack) => Promise<Applied>): Promise<void> => {
      const one = await ready();
      try {
        expectWhole(one, await test(one));
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
        const healed = await rack.converge();
        expectFound(rack, healed);
        expect([changesIn(healed.plan).length > 0, healed.plan.blockers]).toEqual([true, []]);
        return healed;
      }),
    );

    it.each(curedBy('hands'))('with %s on %s is healed by hands, and by apply what follows', (fault, target) =>
      on(async (rack) => {
        await breakBy(rack, fault, target);
        const broken = await rack.apply();
        expectFound(rack, broken);
        expect(changesIn(broken.plan)).toEqual([]);
        await rack.behindOurBack((fleet) => fleet.hands());
        return rack.converge();
      }),
    );

    it.each(curedBy('person'))('with %s on %s is told of, and left to whoever can mend it', (fault, target) =>
      on(async (rack) => {
        await breakBy(rack, fault, target);
        const broken = await rack.apply();
        expectFound(rack, broken);
        expect(changesIn(broken.plan)).toEqual([]);
        await rack.behindOurBack((fleet) => fleet.clearFault([fault]));
        const mended = await rack.apply();
        expect(changesIn(mended.plan)).toEqual([]);
        return mended;
      }),
    );
  });
}
