import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { DesiredFleet } from '../../src/model/desired.ts';
import { readSavedState } from '../../src/sim/hosts/control/run-folder.ts';
import { type Fleet, startFleet } from '../../src/sim/hosts/control/start-fleet.ts';
import { modelledFleet } from '../../src/sim/hosts/modelled-fleet.ts';
import { desiredRack, links } from '../rack/rack.ts';
import { connect, eventually, freshFolder, type Ran, removeFolder, run, sh } from '../rack/running.ts';
import { jobPlist } from '../unit/sim/launchd-job.ts';

const folders: string[] = [];
const fleets: Fleet[] = [];
/** Stops every started fleet and removes its folder. */
async function endRebooted(): Promise<void> {
  for (const fleet of fleets.splice(0)) await fleet.stop();
  for (const folder of folders.splice(0)) await removeFolder(folder);
}

/** The rack. One second on a Mac takes a real millisecond. */
async function up(folder: string, desired: DesiredFleet = desiredRack, clockFactor = 1 / 1000): Promise<Fleet> {
  const model = modelledFleet(desired, 'reboot', await readSavedState(folder));
  const fleet = await startFleet({ folder, model, clockFactor });
  fleets.push(fleet);
  return fleet;
}

/** A folder for a fleet. */
async function fresh(): Promise<string> {
  const folder = await freshFolder();
  folders.push(folder);
  return folder;
}

/** The same rack for a test that acts during a slow shutdown: four minutes on a Mac take five real seconds. */
const slow = async (): Promise<Fleet> => up(await fresh(), desiredRack, 1 / 50);

/** Asks a node to restart, from a child that outlives the script. */
const restart = (fleet: Fleet, node: string): Promise<Ran> =>
  sh(fleet, node, `"$R/sbin/shutdown" -r now >/dev/null 2>&1 </dev/null &`);

afterEach(endRebooted);

const isUp = (fleet: Fleet, node: string): boolean => fleet.power()[node] === 'up';

const bootSession = async (fleet: Fleet, node: string): Promise<string> =>
  (await sh(fleet, node, '"$R/usr/sbin/sysctl" -n kern.bootsessionuuid', 'user')).stdout.trim();

/** Restarts a node and waits until it is up again. */
async function reboot(fleet: Fleet, node: string): Promise<void> {
  const count = (): number => fleet.effects().filter((one) => one.kind === 'boot' && one.node === node).length;
  const before = count();
  await restart(fleet, node);
  expect(await eventually(() => count() === before + 1 && isUp(fleet, node))).toBe(true);
}

describe("a simulated Mac's reboot", () => {
  it('starts a new boot session, keeps files and settings, and drops temporary state', async () => {
    const fleet = await up(await fresh());
    await sh(
      fleet,
      'studio-1',
      `"$R/usr/bin/pmset" -a sleep 7
       "$R/usr/sbin/sysctl" iogpu.wired_limit_mb=4096
       "$R/usr/sbin/networksetup" -setmanual "Thunderbolt 2" 10.9.9.1 255.255.255.252
       "$R/sbin/ifconfig" en4 inet 10.1.1.1 netmask 255.255.255.0
       printf kept >"$R/Library/kept"; printf gone >"$R/tmp/gone"; printf gone >"$R/var/run/gone"`,
    );
    const before = await bootSession(fleet, 'studio-1');
    const others = await bootSession(fleet, 'studio-2');
    await reboot(fleet, 'studio-1');
    expect(await bootSession(fleet, 'studio-1')).toMatch(/^[0-9A-F-]{36}$/);
    expect(await bootSession(fleet, 'studio-1')).not.toBe(before);
    expect(await bootSession(fleet, 'studio-2')).toBe(others);
    const { stdout } = await sh(
      fleet,
      'studio-1',
      `"$R/usr/bin/pmset" -g custom; "$R/usr/sbin/sysctl" iogpu.wired_limit_mb; "$R/sbin/ifconfig" -a
       "$R/bin/cat" "$R/Library/kept"; "$R/bin/ls" "$R/tmp" "$R/var/run"`,
    );
    expect(stdout).toMatch(/^ sleep {16}7$/m);
    expect(stdout).toContain('iogpu.wired_limit_mb: 0\n');
    expect(stdout).toContain('inet 10.9.9.1 ');
    expect(stdout).toContain('inet 10.77.0.5 ');
    expect(stdout).not.toContain('10.1.1.1');
    expect(stdout).toContain('kept');
    expect(stdout).not.toContain('gone');
  });

  it('runs early services before logins are possible', async () => {
    const fleet = await up(await fresh());
    const root = fleet.nodes['studio-1']?.root ?? '';
    const daemon = (name: string, text: string): Promise<void> =>
      writeFile(join(root, 'Library/LaunchDaemons', `${name}.plist`), text);
    const setLimit = `sysctl iogpu.wired_limit_mb=4096 >'${root}/Library/output' 2>&1; echo over >>'${root}/Library/output'`;
    const early = { Label: 'dev.early', ProgramArguments: [`${root}/bin/sh`, '-c', setLimit], RunAtLoad: true };
    await daemon('dev.early', jobPlist(early));
    // The Mac listens after all of these jobs are loaded. By then, the first job has made its change.
    for (let at = 0; at < 100; at += 1) {
      const later = { Label: `dev.later.${at}`, ProgramArguments: [`${root}/bin/sh`, '-c', 'exit 0'] };
      await daemon(`dev.later.${at}`, jobPlist(later));
    }
    await reboot(fleet, 'studio-1');
    const output = (): Promise<string> => readFile(join(root, 'Library/output'), 'utf8').catch(() => '');
    expect(await eventually(async () => (await output()).endsWith('over\n'))).toBe(true);
    expect(await output()).toBe('iogpu.wired_limit_mb: 0 -> 4096\nover\n');
  });

  it('happens once for two orders and counts both', async () => {
    const fleet = await slow();
    const twice = '"$R/sbin/shutdown" -r now; "$R/sbin/shutdown" -h now';
    await fleet.setFault(['slow-shutdown', 'studio-1']);
    await sh(fleet, 'studio-1', `(${twice}) >/dev/null 2>&1 </dev/null &`);
    expect(await eventually(() => fleet.effects().some(({ kind }) => kind === 'boot'))).toBe(true);
    const kinds = fleet
      .effects()
      .filter(({ kind }) => kind !== 'write')
      .map(({ kind, node, boot }) => `${kind} ${node} ${boot}`);
    expect(kinds).toEqual(['reboot studio-1 0', 'power-off studio-1 0', 'boot studio-1 1']);
  });

  it('fails for users other than root, as on macOS', async () => {
    const fleet = await up(await fresh());
    const ran = await sh(fleet, 'studio-1', '"$R/sbin/shutdown" -r now', 'user');
    expect([ran.code, ran.stderr]).toEqual([1, 'shutdown: NOT super-user\n']);
    expect(isUp(fleet, 'studio-1')).toBe(true);
  });

  it('does not restore a bridge that was deleted from the preferences, unless macOS rebuilds it', async () => {
    const fleet = await up(await fresh());
    await fleet.setFault(['bridge-rebuilt', 'studio-1']);
    const remove = `"$R/usr/libexec/PlistBuddy" -c 'Delete :VirtualNetworkInterfaces:Bridge:bridge0' "$R/Library/Preferences/SystemConfiguration/preferences.plist"
      "$R/sbin/ifconfig" bridge0 destroy; "$R/sbin/ifconfig" -l`;
    const hasBridge = async (script: string): Promise<boolean> =>
      (await sh(fleet, 'studio-1', script)).stdout.includes('bridge0');
    expect(await hasBridge(remove)).toBe(false);
    await reboot(fleet, 'studio-1');
    expect(await hasBridge('"$R/sbin/ifconfig" -l')).toBe(true);
    await fleet.clearFault(['bridge-rebuilt']);
    expect(await hasBridge('"$R/sbin/ifconfig" -l')).toBe(false);
    await reboot(fleet, 'studio-1');
    expect(await hasBridge('"$R/sbin/ifconfig" -l')).toBe(false);
  });
});

describe("a simulated Mac's slow reboot", () => {
  it('keeps live connections until the slow process is killed', async () => {
    const fleet = await slow();
    await fleet.setFault(['slow-shutdown', 'studio-1']);
    const client = await connect(fleet, 'studio-1');
    await restart(fleet, 'studio-1');
    expect(await eventually(() => fleet.power()['studio-1'] === 'going-down')).toBe(true);
    expect((await run(client, 'echo still there')).stdout).toBe('still there\n');
    expect(await eventually(() => isUp(fleet, 'studio-1'))).toBe(true);
  });
});

describe('a simulator restarted from its disk', () => {
  it('has rebooted every Mac', async () => {
    const folder = await fresh();
    const first = await up(folder);
    await sh(
      first,
      'studio-3',
      `"$R/usr/bin/pmset" -a sleep 7; "$R/usr/sbin/sysctl" iogpu.wired_limit_mb=4096; printf kept >"$R/Library/kept"
       "$R/usr/sbin/networksetup" -setdhcp "Thunderbolt 2"; printf gone >"$R/tmp/gone"`,
    );
    await first.setFault(['cable-missing', 'studio-1:2']);
    const sessions = await Promise.all(Object.keys(first.nodes).map((node) => bootSession(first, node)));
    await first.stop();
    const again = await up(folder);
    const now = await Promise.all(Object.keys(again.nodes).map((node) => bootSession(again, node)));
    expect(now.filter((one) => sessions.includes(one))).toEqual([]);
    const { stdout } = await sh(
      again,
      'studio-3',
      `"$R/usr/bin/pmset" -g custom; "$R/usr/sbin/sysctl" iogpu.wired_limit_mb
       "$R/usr/sbin/networksetup" -getinfo "Thunderbolt 2"; "$R/bin/ls" "$R/Library" "$R/tmp"`,
    );
    expect(stdout).toMatch(/^ sleep {16}7$/m);
    expect(stdout).toContain('iogpu.wired_limit_mb: 0\n');
    expect(stdout).toContain('DHCP Configuration');
    expect(stdout).toContain('kept');
    expect(stdout).not.toContain('gone');
    expect((await again.clearFault(['cable-missing'])).kind).toBe('done');
  });

  it('reads the network preferences from the disk', async () => {
    const folder = await fresh();
    const first = await up(folder);
    const path = join(first.nodes['studio-1']?.root ?? '', 'Library/Preferences/SystemConfiguration/preferences.plist');
    await first.stop();
    await writeFile(path, (await readFile(path, 'utf8')).replace('10.77.0.1<', '10.55.5.1<'));
    const again = await up(folder);
    expect((await sh(again, 'studio-1', '"$R/sbin/ifconfig" en3')).stdout).toContain('inet 10.55.5.1 ');
  });

  it("has the current file's nodes: new nodes as declared, old nodes unchanged", async () => {
    const folder = await fresh();
    const small: DesiredFleet = {
      ...desiredRack,
      nodes: desiredRack.nodes.slice(0, 3),
      thunderbolt: { ...desiredRack.thunderbolt, links: desiredRack.thunderbolt.links.slice(0, 2) },
    };
    const first = await up(folder, small);
    await sh(first, 'studio-1', 'printf kept >"$R/Library/kept"; "$R/usr/bin/pmset" -a sleep 7');
    await first.stop();
    const larger: DesiredFleet = {
      ...desiredRack,
      nodes: desiredRack.nodes.filter(({ name }) => name !== 'studio-2'),
      thunderbolt: {
        ...desiredRack.thunderbolt,
        links: links(['studio-1:3 <-> studio-3:2', 'studio-3:4 <-> studio-4:4']),
      },
    };
    const again = await up(folder, larger);
    expect(Object.keys(again.nodes)).toEqual(['studio-1', 'studio-3', 'studio-4']);
    expect(existsSync(join(folder, 'roots/studio-2'))).toBe(false);
    const seen = await sh(again, 'studio-1', '"$R/bin/cat" "$R/Library/kept"; "$R/usr/bin/pmset" -g custom');
    expect(seen.stdout).toMatch(/^kept[\s\S]* sleep {16}7$/m);
    expect((await sh(again, 'studio-4', '"$R/sbin/ifconfig" en5')).stdout).toContain('status: active');
  });

  it('starts from scratch if its saved state is unusable', async () => {
    const folder = await fresh();
    await writeFile(join(folder, 'state.json'), '{"formatVersion": 0}');
    const fleet = await up(folder);
    expect((await sh(fleet, 'studio-1', '"$R/usr/sbin/sysctl" iogpu.wired_limit_mb')).stdout).toContain(': 491520');
  });
});
