import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { RunningFleet } from '../../src/sim/hosts/control/start-fleet.ts';
import type { RunningRack } from '../rack/running.ts';
import { startExampleRackBy } from '../scenarios/observe-rack.ts';
import { behaviours } from './behaviours.ts';
import { type ContractRack, contractRack, keepWiredLimit } from './contract-rack.ts';
import { faultRows, findingsOn, triedFaults } from './fault-rows.ts';
import { type SimHost, startSimFleet } from './sim-host.ts';

/** One second on a Mac takes 1/200 of a real second. */
const clockFactor = 1 / 200;

/** The contract of a host: the behavior of every simulated rack, and the findings of the product for every fault. */
export function describeContract(host: SimHost, isWithFaults: boolean): void {
  let started: RunningRack<RunningFleet>;
  let rack: ContractRack;
  beforeAll(async () => {
    started = await startExampleRackBy((options) => startSimFleet({ ...options, clockFactor }, host));
    rack = contractRack(host, started);
  });
  afterEach(() => rack?.fleet.clearFault([]));
  afterAll(() => started?.stop());

  if (isWithFaults) {
    describe(`the ${host} host of simulated Macs`, () => {
      it.each(triedFaults)(
        'shows only the documented findings for %s, and no trace after it is cleared',
        async (fault) => {
          const { target, restarts } = faultRows[fault];
          const repair = restarts && (await keepWiredLimit(rack.fleet, target));
          expect((await rack.fleet.setFault([fault, target])).kind).toBe('done');
          expect(await rack.find()).toEqual(findingsOn(fault, host));
          await rack.fleet.clearFault([fault]);
          if (repair) await repair();
          expect(await rack.find()).toEqual([]);
        },
      );
    });
  }

  describe(`a simulated rack on the ${host} host`, () => {
    const titled = behaviours.map(({ title, check }) => [title, check] as const);
    it.each(titled)('%s', (_title, check) => check(rack));
  });
}
