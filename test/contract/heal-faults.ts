import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { diagnoseFleet } from '../../src/engine/diagnose/diagnose-fleet.ts';
import type { FleetObservation } from '../../src/rack/examination.ts';
import type { RunningFleet } from '../../src/sim/hosts/control/start-fleet.ts';
import { type Applied, type ConvergeRack, changesIn, leftIn, patience } from '../scenarios/converge-rack.ts';
import { type Cure, faultCures } from './fault-cures.ts';
import { triedFaults } from './fault-rows.ts';

type Rack = ConvergeRack<RunningFleet>;

const curedBy = (kind: Exclude<Cure['kind'], 'verb'>) =>
  triedFaults.flatMap((fault) => {
    const cure = faultCures[fault];
    return cure.kind === kind ? [[fault, cure.target] as const] : [];
  });

/** The codes of the findings in an observation. */
const found = (rack: Rack, seen: FleetObservation): readonly string[] =>
  diagnoseFleet(rack.desired(), seen).map(({ code }) => code);

const breakBy = (rack: Rack, fault: string, target: string): Promise<void> =>
  rack.behindOurBack(async (fleet) => {
    expect(await fleet.setFault([fault, target])).toMatchObject({ kind: 'done' });
  });

/** Expects findings before the first change. */
const expectFound = (rack: Rack, { looks }: Applied): void => expect(found(rack, looks.first)).not.toEqual([]);

/** Expects no remaining change and no finding. */
function expectWhole(rack: Rack, { looks, after }: Applied): void {
  expect(found(rack, looks.last)).toEqual([]);
  expect(leftIn(after)).toEqual([]);
}

/** A converged rack that each test breaks once. After a test that left it broken, it is started from scratch. */
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
    /** Runs a test on the rack and expects that its last apply repaired everything. Discards the rack if this fails. */
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

/** Declares the tests that cure every fault on a rack of one host, according to `fault-cures.ts`. */
export function describeHealing(host: string, start: () => Promise<Rack>): void {
  describe(`a broken rack on the ${host} host`, { timeout: patience }, () => {
    const { ready, stop, on } = brokenInTurn(start);
    beforeAll(ready, patience);
    afterAll(stop);

    it.each(curedBy('apply'))('is repaired by apply after %s on %s, with nothing left to do', (fault, target) =>
      on(async (rack) => {
        await breakBy(rack, fault, target);
        const repaired = await rack.converge();
        expectFound(rack, repaired);
        expect([changesIn(repaired.plan).length > 0, repaired.plan.blockers]).toEqual([true, []]);
        return repaired;
      }),
    );

    it.each(curedBy('hands'))('is repaired by a manual step and then apply after %s on %s', (fault, target) =>
      on(async (rack) => {
        await breakBy(rack, fault, target);
        const broken = await rack.apply();
        expectFound(rack, broken);
        expect(changesIn(broken.plan)).toEqual([]);
        await rack.behindOurBack((fleet) => fleet.hands());
        return rack.converge();
      }),
    );

    it.each(curedBy('person'))('is reported and left unchanged until a person clears %s on %s', (fault, target) =>
      on(async (rack) => {
        await breakBy(rack, fault, target);
        const broken = await rack.apply();
        expectFound(rack, broken);
        expect(changesIn(broken.plan)).toEqual([]);
        await rack.behindOurBack((fleet) => fleet.clearFault([fault]));
        const repaired = await rack.apply();
        expect(changesIn(repaired.plan)).toEqual([]);
        return repaired;
      }),
    );
  });
}
