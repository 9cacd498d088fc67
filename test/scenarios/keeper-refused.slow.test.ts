import { describe, expect, it } from 'vitest';
import { diagnoseFleet } from '../../src/engine/diagnose/diagnose-fleet.ts';
import { subjectText } from '../../src/model/subject.ts';
import { shared } from '../rack/kept-running.ts';
import { filePart, first, pairFile, second } from './converge-file.ts';
import { leftIn, patience, startConvergeRack } from './converge-rack.ts';

/** This test needs no placement. */
const file = pairFile((value) => {
  for (const key of ['runtimes', 'models', 'placements']) delete value[key];
});

const rack = shared(() => startConvergeRack('refused', file));

const found = async (): Promise<readonly string[]> =>
  diagnoseFleet(rack.desired(), await rack.observe()).map(({ code, subject }) => `${code} ${subjectText(subject)}`);

const breakNetwork = (node: string): Promise<void> =>
  rack.behindOurBack(async (fleet) => {
    for (const fault of ['bridge-active', 'dhcp-reset', 'no-full-disk-access']) await fleet.setFault([fault, node]);
  });

describe('a Mac without Full Disk Access for ssh sessions', { timeout: patience }, () => {
  it('gets its addresses and loses its bridge anyway, with a diagnostic', async () => {
    await breakNetwork(second);
    const { plan, exit } = await rack.converge();
    const touched = plan.changes.filter(({ node }) => node === second).map(({ resource }) => resource);
    expect(touched).toEqual(
      expect.arrayContaining([
        'thunderbolt-bridge/service',
        'link-address/2/kept',
        'link-address/2/live',
        'keeper/files',
      ]),
    );
    expect([exit, await found()]).toEqual([0, [`network/no-full-disk-access node ${second}`]]);
  });

  it('needs no changes in the next apply, which tries nothing again', async () => {
    const { plan, report } = await rack.apply();
    expect([leftIn(plan), report]).toEqual([[], undefined]);
  });

  it('is configured by networksetup as soon as access is granted, and loses its mark', async () => {
    await rack.behindOurBack(async (fleet) => {
      await fleet.clearFault(['no-full-disk-access']);
      await fleet.setFault(['gid-missing', second]);
    });
    const { after } = await rack.apply();
    expect(after.changes.map(({ id }) => id)).toEqual([`${second} thunderbolt-bridge/service`]);
    await rack.converge();
    expect(await found()).toEqual([]);
  });

  it('fails and names the missing switch if the file sets no keeper', async () => {
    filePart(file, 'system')['keeper'] = 'none';
    await rack.declare(file);
    await rack.converge();
    await breakNetwork(first);
    const { report, exit } = await rack.apply();
    const failed = report?.steps.filter(({ outcome }) => outcome === 'failed') ?? [];
    expect(exit).not.toBe(0);
    expect(failed.flatMap(({ diagnostics }) => diagnostics.map(({ code }) => code))).toContain(
      'step/no-full-disk-access',
    );
  });
});
