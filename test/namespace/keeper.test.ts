import { describe, expect, it } from 'vitest';
import { shared } from '../rack/kept-running.ts';
import { eventually } from '../rack/running.ts';
import { pairFile, second } from '../scenarios/converge-file.ts';
import { leftIn, patience, planFor } from '../scenarios/converge-rack.ts';
import { startNamespaceRack } from './rack.ts';

/** This test needs no placement. */
const file = pairFile((value) => {
  for (const key of ['runtimes', 'models', 'placements']) delete value[key];
});

// One minute for launchd takes a fifth of a real second.
const rack = shared(() => startNamespaceRack('keeper', file, { intervalFactor: 1 / 300 }));

const log = async (): Promise<string> =>
  (await rack.asRoot(second, '/bin/cat "/Library/Application Support/meshwright/log/keeper"')).stdout;

describe('the keeper on a Mac in a namespace', { timeout: patience }, () => {
  it('restores the bridge setting, address and wired limit after a restart, without apply', async () => {
    await rack.converge();
    await rack.behindOurBack(async (fleet) => {
      await fleet.setFault(['bridge-rebuilt', second]);
      const boots = (): number => fleet.effects().filter((one) => one.kind === 'boot' && one.node === second).length;
      const before = boots();
      await rack.asRoot(second, '/sbin/shutdown -r now >/dev/null 2>&1 </dev/null &');
      expect(await eventually(() => boots() > before && fleet.power()[second] === 'up')).toBe(true);
      const left = async (): Promise<readonly string[]> => leftIn(planFor(rack.desired(), await rack.observe()));
      await eventually(async () => (await left()).length === 0);
      expect(await left()).toEqual([]);
    });
    for (const change of ['wired-limit from=0 to=245760', 'bridge bridge0 removed'])
      expect(await log()).toContain(change);
  });

  it('restores a link address that configd removed', async () => {
    await rack.behindOurBack((fleet) => fleet.setFault(['dhcp-reset', `${second}:2`]));
    expect(await eventually(async () => (await log()).includes('to=10.77.0.2/0xfffffffc'))).toBe(true);
    const { stdout } = await rack.behindOurBack(() => rack.asRoot(second, '/sbin/ifconfig en3'));
    expect(stdout).toContain('inet 10.77.0.2 netmask 0xfffffffc');
  });
});
