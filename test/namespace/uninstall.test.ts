import { afterAll, beforeAll, expect, it } from 'vitest';
import { nodeName } from '../../src/model/node.ts';
import type { RunningFleet } from '../../src/sim/host/running-fleet.ts';
import { startSimFleet } from '../contract/sim-host.ts';
import { first, pairFile, second } from '../scenarios/converge-file.ts';
import { type ConvergeRack, leftIn, patience, startConvergeRackBy } from '../scenarios/converge-rack.ts';
import { connect, run } from '../scenarios/sim-fixture.ts';

let rack: ConvergeRack<RunningFleet>;
beforeAll(async () => {
  rack = await startConvergeRackBy((options) => startSimFleet(options, 'namespace'), 'namespace');
});
afterAll(() => rack?.stop());

const nodes = [first, second];
// The mark of the first sudo is that of Linux.
const look =
  "cd / && find 'Library/Application Support' Library/LaunchDaemons opt etc/sudoers.d Users ! -name .sudo_as_admin_successful | sort";

/** Files and folders of a Mac, where ours and those of its owner lie, as the account sees them. */
async function filesOf(node: string): Promise<string> {
  const client = await connect(rack.fleet(), node);
  const { stdout } = await run(client, look);
  client.end();
  return stdout;
}
const files = (): Promise<readonly string[]> => Promise.all(nodes.map(filesOf));

it(
  'leaves nothing behind on Macs with a file system and an sshd of their own',
  async () => {
    const before = await files();
    await rack.converge();
    expect(await files()).not.toEqual(before);
    // What the verb makes of the file by itself: nothing is placed, joined or kept on these Macs any more.
    await rack.declare(
      pairFile((file) => {
        for (const key of ['runtimes', 'models', 'placements']) delete file[key];
        Object.assign(file['thunderbolt'] as object, { links: [] });
        Object.assign(file['system'] as object, { keeper: 'none' });
      }),
    );
    const goal = {
      kind: 'uninstall',
      nodes: nodes.map(nodeName),
      placements: [],
      restore: true,
      models: true,
    } as const;
    const { report, after } = await rack.apply({ goal });
    expect([report?.diagnostics, leftIn(after)]).toEqual([[], []]);
    // These Macs were enrolled when they were made.
    const without = before.map((text) => text.replace('etc/sudoers.d/meshwright\n', ''));
    expect(without.every((text) => text.includes('Library/LaunchDaemons'))).toBe(true);
    expect(await files()).toEqual(without);
  },
  patience,
);
