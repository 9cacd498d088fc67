import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { faultNames } from '../../src/sim/faults/faults.ts';
import type { RunningFleet } from '../../src/sim/hosts/control/start-fleet.ts';
import type { RunningRack } from '../rack/running.ts';
import { startExampleRackBy } from '../scenarios/observe-rack.ts';
import { behaviours } from './behaviours.ts';
import { type ContractRack, contractRack, keepWiredLimit } from './contract-rack.ts';
import { faultRows, findingsOn } from './fault-rows.ts';
import { type SimHost, startSimFleet } from './sim-host.ts';

/** A second of a Mac takes a two-hundredth of one. */
const clockFactor = 1 / 200;

/** The contract of a host: what every simulated rack does, and every fault as the product finds it. */
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
    describe(`a fault on the ${host} host`, () => {
      it.each(faultNames)('%s is found by what it breaks, and heals without a trace', async (fault) => {
        const { target, restarts } = faultRows[fault];
        const mend = restarts && (await keepWiredLimit(rack.fleet, target));
        expect((await rack.fleet.setFault([fault, target])).kind).toBe('done');
        expect(await rack.find()).toEqual(findingsOn(fault, host));
        await rack.fleet.clearFault([fault]);
        if (mend) await mend();
        expect(await rack.find()).toEqual([]);
      });
    });
  }

  describe(`a simulated rack on the ${host} host`, () => {
    it.each(behaviours)('$title', ({ check }) => check(rack));
  });
}
