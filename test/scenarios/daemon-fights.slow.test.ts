import { describe, expect, it } from 'vitest';
import { startFleet } from '../../src/sim/hosts/control/start-fleet.ts';
import { shared } from '../rack/kept-running.ts';
import { eventually, sh } from '../rack/running.ts';
import { startExampleRackBy } from './observe-rack.ts';

/** Half an hour for a daemon takes a third of a real second. */
const intervalFactor = 1 / 6_000;
const node = 'studio-3';
/** A second Mac with the fault, whose daemon is never repaired. */
const other = 'studio-1';

const rack = shared(() => startExampleRackBy((options) => startFleet({ ...options, intervalFactor })));

async function asRoot(script: string, on = node): Promise<string> {
  const ran = await sh(rack.fleet, on, script);
  expect([ran.code, ran.stderr]).toEqual([0, '']);
  return ran.stdout;
}

const setup = '"$R/usr/sbin/networksetup"';
const fix = `${setup} -setmanual 'Thunderbolt 2' 10.99.0.1 255.255.255.252`;
const isFixed = async (on = node): Promise<boolean> =>
  (await asRoot(`${setup} -getinfo 'Thunderbolt 2'`, on)).startsWith('Manual Configuration');

/** Sets the address and waits until the Mac's daemon has removed it. */
async function loseFix(on = node): Promise<void> {
  await asRoot(fix, on);
  expect(await eventually(async () => !(await isFixed(on)))).toBe(true);
}

describe("exo's network daemon on a simulated Mac", () => {
  it('repeatedly removes an address that a person set on a cable', async () => {
    await rack.fleet.setFault(['daemon-conflict', node]);
    await loseFix();
    await loseFix();
  });

  it('leaves the cables unchanged once it is unloaded and disabled, which repairs its fault', async () => {
    await asRoot(
      '"$R/bin/launchctl" bootout system/io.exo.networksetup; "$R/bin/launchctl" disable system/io.exo.networksetup',
    );
    await asRoot(fix);
    // Two rounds of another Mac's daemon take at least one whole interval.
    await rack.fleet.setFault(['daemon-conflict', other]);
    await loseFix(other);
    await loseFix(other);
    expect(await isFixed()).toBe(true);
    expect((await rack.fleet.clearFault(['daemon-conflict', node])).kind).toBe('done');
  });
});
