import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startFleet } from '../../src/sim/hosts/control/start-fleet.ts';
import { eventually, type RunningRack, sh } from '../rack/running.ts';
import { startExampleRackBy } from './observe-rack.ts';

/** Half an hour for a daemon takes a third of a real second. */
const intervalFactor = 1 / 6_000;
const node = 'studio-3';

let rack: RunningRack;
beforeAll(async () => {
  rack = await startExampleRackBy((options) => startFleet({ ...options, intervalFactor }));
});
afterAll(() => rack.stop());

async function asRoot(script: string): Promise<string> {
  const ran = await sh(rack.fleet, node, script);
  expect([ran.code, ran.stderr]).toEqual([0, '']);
  return ran.stdout;
}

const setup = '"$R/usr/sbin/networksetup"';
const fix = `${setup} -setmanual 'Thunderbolt 2' 10.99.0.1 255.255.255.252`;
const isFixed = async (): Promise<boolean> =>
  (await asRoot(`${setup} -getinfo 'Thunderbolt 2'`)).startsWith('Manual Configuration');

describe("exo's network daemon on a simulated Mac", () => {
  it('repeatedly removes an address that a person set on a cable', async () => {
    await rack.fleet.setFault(['daemon-conflict', node]);
    for (const _ of [1, 2]) {
      await asRoot(fix);
      expect(await eventually(async () => !(await isFixed()))).toBe(true);
    }
  });

  it('leaves the cables unchanged once it is unloaded and disabled, which repairs its fault', async () => {
    await asRoot(
      '"$R/bin/launchctl" bootout system/io.exo.networksetup; "$R/bin/launchctl" disable system/io.exo.networksetup',
    );
    await asRoot(fix);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(await isFixed()).toBe(true);
    expect((await rack.fleet.clearFault([])).kind).toBe('done');
  });
});
