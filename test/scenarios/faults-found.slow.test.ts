import { afterEach, describe, expect, it } from 'vitest';
import { diagnoseFleet } from '../../src/engine/diagnose/diagnose-fleet.ts';
import { subjectText } from '../../src/model/subject.ts';
import { keepWiredLimit } from '../contract/contract-rack.ts';
import { faultRows, triedFaults } from '../contract/fault-rows.ts';
import { shared } from '../rack/kept-running.ts';
import { observe, startExampleRack } from './observe-rack.ts';

const rack = shared(() => startExampleRack());
afterEach(() => rack.fleet.clearFault([]));

/** The findings of the product over SSH. Only the simulator knows the faults. */
async function find(): Promise<readonly string[]> {
  const observation = await observe(rack.names.map((name) => rack.way(name)));
  return diagnoseFleet(rack.desired, observation).map(
    (one) => `${one.severity} ${one.code} ${subjectText(one.subject)}`,
  );
}

describe('diagnosis over SSH', () => {
  it('reports nothing in the healthy rack', async () => {
    expect(await find()).toEqual([]);
  });

  it.each(triedFaults)('reports exactly the findings for %s, and nothing after its repair', async (fault) => {
    const { target, findings, restarts } = faultRows[fault];
    const repair = restarts && (await keepWiredLimit(rack.fleet, target));
    const set = await rack.fleet.setFault([fault, target]);
    expect(set.kind).toBe('done');
    expect(await find()).toEqual(findings);
    await rack.fleet.clearFault([fault]);
    if (repair) await repair();
    expect(await find()).toEqual([]);
  });
});
