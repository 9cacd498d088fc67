import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { startFleet } from '../../src/sim/hosts/control/start-fleet.ts';
import { shared } from '../rack/kept-running.ts';
import { eventually } from '../rack/running.ts';
import { filePart, first, pairFile, second } from './converge-file.ts';
import { changesIn, leftIn, patience, planFor, startConvergeRackBy } from './converge-rack.ts';

/** This test needs no placement. */
const file = pairFile((value) => {
  for (const key of ['runtimes', 'models', 'placements']) delete value[key];
});

// One minute for launchd takes a fifth of a real second.
const rack = shared(() =>
  startConvergeRackBy((options) => startFleet({ ...options, intervalFactor: 1 / 300 }), 'keeper', file),
);

const logAt = (node: string): Promise<string> =>
  readFile(`${rack.fleet().nodes[node]?.root}/Library/Application Support/meshwright/log/keeper`, 'utf8').catch(
    () => '',
  );

/** The changes that a new plan contains. Changes that the keeper has made in the meantime are not included. */
const left = (): Promise<readonly string[]> =>
  rack.behindOurBack(async () => leftIn(planFor(rack.desired(), await rack.observe())));

/** Waits until nothing is left to do. */
async function healed(): Promise<void> {
  await eventually(async () => (await left()).length === 0);
  expect(await left()).toEqual([]);
}

/** Waits until launchd has started this many more rounds. All of them but the last have then ended. */
async function roundsOf(node: string, more: number): Promise<void> {
  const printed = `${rack.fleet().nodes[node]?.root}/.sim/launchd/dev.meshwright.keeper`;
  const runs = async (): Promise<number> => Number(/^\truns = (\d+)$/m.exec(await readFile(printed, 'utf8'))?.[1]);
  const end = (await runs()) + more;
  expect(await eventually(async () => (await runs()) >= end)).toBe(true);
}

async function reboot(node: string): Promise<void> {
  await rack.behindOurBack(async (fleet) => {
    const boots = (): number => fleet.effects().filter((one) => one.kind === 'boot' && one.node === node).length;
    const before = boots();
    await rack.asRoot(node, '"$R/sbin/shutdown" -r now >/dev/null 2>&1 </dev/null &');
    expect(await eventually(() => boots() > before && fleet.power()[node] === 'up')).toBe(true);
  });
}

describe('the keeper', { timeout: patience }, () => {
  it('is installed and loaded by apply, and left unchanged by the next one', async () => {
    const { plan } = await rack.converge();
    expect(changesIn(plan)).toEqual(
      [first, second].flatMap((node) => [
        `${node} accounts/_meshrank`,
        `${node} keeper/files`,
        `${node} keeper/loaded`,
      ]),
    );
    expect(await logAt(first)).toBe('');
  });

  it('restores the wired limit after a restart, without apply', async () => {
    await reboot(first);
    await healed();
    expect(await logAt(first)).toMatch(/^at=\d+ wired-limit from=0 to=491520$/m);
  });

  it("removes a bridge that macOS recreates, and restores its interface's address", async () => {
    await rack.behindOurBack((fleet) => fleet.setFault(['bridge-rebuilt', first]));
    await healed();
    const log = await logAt(first);
    expect(log).toContain('bridge bridge0 removed from=preferences');
    expect(log).toContain('bridge bridge0 removed from=interfaces members=en2 en3');
    await reboot(first);
    await healed();
    expect((await logAt(first)).match(/from=preferences/g)).toHaveLength(2);
  });

  it('restores a link address lost to DHCP, and leaves the service to apply', async () => {
    await rack.behindOurBack((fleet) => fleet.setFault(['dhcp-reset', `${second}:2`]));
    expect(await eventually(async () => (await logAt(second)).includes('address receptacle=2'))).toBe(true);
    expect((await left()).filter((line) => line.startsWith('change'))).toEqual([
      `change ${second} link-address/2/kept: dhcp -> 10.77.0.2/30`,
    ]);
    await rack.converge();
  });

  it('does nothing while a network change waits for confirmation', async () => {
    await rack.behindOurBack(async () => {
      const pending = '"$R/Library/Application Support/meshwright/transaction/pending"';
      await rack.asRoot(second, `"$R/bin/mkdir" -p ${pending}`);
      // A round that started earlier did not observe this change.
      await roundsOf(second, 2);
      const before = await logAt(second);
      await rack.asRoot(second, '"$R/usr/sbin/sysctl" iogpu.wired_limit_mb=4096');
      await roundsOf(second, 4);
      expect(await logAt(second)).toBe(before);
      await rack.asRoot(second, `"$R/bin/rmdir" ${pending}`);
    });
    await healed();
    expect(await logAt(second)).toContain('wired-limit from=4096 to=245760');
  });

  it('is removed with its files if the file disables it', async () => {
    filePart(file, 'system')['keeper'] = 'none';
    await rack.declare(file);
    const { plan } = await rack.converge();
    expect(plan.steps.map(({ id }) => id)).toEqual([`${first}/keeper/remove`, `${second}/keeper/remove`]);
    const { stdout } = await rack.asRoot(
      first,
      'ls "$R/Library/LaunchDaemons" "$R/Library/Application Support/meshwright"',
    );
    expect(stdout).not.toContain('keeper');
  });
});
