import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { startFleet } from '../../src/sim/hosts/control/start-fleet.ts';
import { desiredRack } from '../rack/rack.ts';
import { type Ran, type RunningRack, sh as shOn, startRack } from '../rack/running.ts';

let rack: RunningRack | undefined;
beforeEach(async () => {
  await rack?.stop();
  rack = await startRack(startFleet, { desired: desiredRack, seed: 'network' });
});
afterAll(() => rack?.stop());

/** One script on studio-1, as root or as the user; `$R` is the root of the node, `$F` the network preferences. */
async function sh(script: string, by: 'root' | 'user' = 'root'): Promise<Ran> {
  if (rack === undefined) throw new Error('no rack');
  const head = 'F=$R/Library/Preferences/SystemConfiguration/preferences.plist';
  return shOn(rack.fleet, 'studio-1', `${head}\n${script}`, by);
}

const lines = async (script: string, by?: 'root' | 'user'): Promise<readonly string[]> =>
  (await sh(script, by)).stdout.trimEnd().split('\n');

const bridges = '"$R/usr/bin/plutil" -extract VirtualNetworkInterfaces.Bridge json -o - "$F"';
const members = '"$R/sbin/ifconfig" bridge0 2>&1 | "$R/usr/bin/grep" -c member:';

describe('the Thunderbolt Bridge of a simulated Mac', () => {
  it('has three layers, each removed by its own tool', async () => {
    await rack?.fleet.setFault(['bridge-active', 'studio-1']);
    expect(await lines(`${bridges}; ${members}`)).toEqual([
      '{"bridge0":{"Options":{"__AUTO__":"thunderbolt-bridge"},"Interfaces":["en2","en3","en4","en5","en6","en7"]}}',
      '6',
    ]);
    const entry = "'Delete :VirtualNetworkInterfaces:Bridge:bridge0'";
    expect(await lines(`"$R/usr/libexec/PlistBuddy" -c ${entry} "$F"; ${bridges}; ${members}`)).toEqual(['{}', '6']);
    expect(await lines(`"$R/sbin/ifconfig" bridge0 deletem en3; ${members}; "$R/sbin/ifconfig" en3`)).toEqual(
      expect.arrayContaining(['5', '\tinet 10.77.0.1 netmask 0xfffffffc broadcast 10.77.0.3']),
    );
    expect(await sh('"$R/sbin/ifconfig" bridge0 destroy; "$R/sbin/ifconfig" bridge0')).toMatchObject({
      code: 1,
      stderr: 'ifconfig: interface bridge0 does not exist\n',
    });
    const service = '"Thunderbolt Bridge"';
    expect(
      await lines(`"$R/usr/sbin/networksetup" -setnetworkserviceenabled ${service} off
        "$R/usr/sbin/networksetup" -getnetworkserviceenabled ${service}
        "$R/usr/sbin/networksetup" -listallnetworkservices`),
    ).toEqual(expect.arrayContaining(['Disabled', '*Thunderbolt Bridge', 'Thunderbolt 2']));
    expect(await rack?.fleet.unknown()).toEqual({ 'studio-1': [], 'studio-2': [], 'studio-3': [], 'studio-4': [] });
  });

  it('comes back when only its interface was destroyed and configd reads the preferences', async () => {
    await rack?.fleet.setFault(['bridge-active', 'studio-1']);
    expect(await lines(`"$R/sbin/ifconfig" bridge0 destroy; ${members}`)).toEqual(['0']);
    expect(await lines(`"$R/usr/sbin/networksetup" -setdhcp "Thunderbolt 6"; ${members}`)).toEqual(['6']);
  });

  it('leaves nothing after its fault is cleared, whatever happened meanwhile', async () => {
    const state = `${bridges}; "$R/sbin/ifconfig" -a; "$R/usr/sbin/networksetup" -listnetworkserviceorder`;
    const before = await lines(state);
    await rack?.fleet.setFault(['bridge-active', 'studio-1']);
    await sh(`"$R/sbin/ifconfig" bridge0 deletem en3; "$R/sbin/ifconfig" bridge0 destroy`);
    await rack?.fleet.clearFault([]);
    expect(await lines(state)).toEqual(before);
  });
});

describe('the addresses of a simulated Mac', () => {
  it('follow its services, DHCP or manual, and plutil reads them from the file', async () => {
    const set = '"$R/usr/sbin/networksetup" -setmanual "Thunderbolt 2" 10.9.9.1 255.255.255.252';
    const seen = await lines(`${set}; "$R/sbin/ifconfig" en3; "$R/usr/bin/ibv_devinfo" -v -d rdma_en3; ${services}`);
    expect(seen).toEqual(expect.arrayContaining(['\tinet 10.9.9.1 netmask 0xfffffffc broadcast 10.9.9.3']));
    expect(seen.join('\n')).toContain('::ffff:10.9.9.1');
    expect(seen.join('\n')).toContain('"Addresses":["10.9.9.1"]');
    const dhcp = await sh('"$R/usr/sbin/networksetup" -setdhcp "Thunderbolt 2"; "$R/sbin/ifconfig" en3');
    expect(dhcp.stdout).toMatch(/\tinet 169\.254\./);
  });
  const services = '"$R/usr/bin/plutil" -extract NetworkServices json -o - "$F"';

  it("remain as set by ifconfig until the interface's service changes", async () => {
    const ran = await sh(`"$R/sbin/ifconfig" en3 inet 10.1.1.1 netmask 255.255.255.0; "$R/sbin/ifconfig" en3`);
    expect(ran.stdout).toContain('inet 10.1.1.1 netmask 0xffffff00');
    expect(ran.stdout).not.toContain('10.77.0.1');
    expect((await sh('"$R/sbin/ifconfig" en3 inet 10.1.1.1 -alias; "$R/sbin/ifconfig" en3')).stdout).not.toContain(
      'inet 1',
    );
    const manual = '"$R/usr/sbin/networksetup" -setmanual "Thunderbolt 2" 10.77.0.1 255.255.255.252';
    expect((await sh(`${manual}; "$R/sbin/ifconfig" en3`)).stdout).toContain('inet 10.77.0.1 ');
  });

  it('need a service, which can be created for a port without one', async () => {
    const created = await sh(`"$R/usr/sbin/networksetup" -createnetworkservice mesh-2 "Thunderbolt 2"
      "$R/usr/sbin/networksetup" -createnetworkservice mesh-2 "Thunderbolt 2"
      "$R/usr/sbin/networksetup" -createnetworkservice mesh-9 "Thunderbolt 9"`);
    expect([created.code, created.stdout]).toEqual([
      4,
      'A network service with the name "mesh-2" already exists.\n** Error: The parameters were not valid.\n' +
        'Thunderbolt 9 is not a recognized hardware port.\n** Error: The parameters were not valid.\n',
    ]);
    expect(await lines('"$R/usr/sbin/networksetup" -getinfo mesh-2')).toContain('DHCP Configuration');
  });
});

describe('a simulated tool that changes the network', () => {
  it('refuses a user other than root in its own words, and changes nothing', async () => {
    await rack?.fleet.setFault(['bridge-active', 'studio-1']);
    const state = `${bridges}; "$R/sbin/ifconfig" -a`;
    const before = await lines(state, 'user');
    const ran = await sh(
      `"$R/usr/sbin/networksetup" -setdhcp "Thunderbolt Bridge"; printf '%s\\n' "$?"
       "$R/sbin/ifconfig" bridge0 deletem en2; "$R/sbin/ifconfig" bridge0 destroy
       "$R/sbin/ifconfig" en2 inet 10.1.1.1 netmask 0xffffff00
       "$R/usr/libexec/PlistBuddy" -c 'Delete :VirtualNetworkInterfaces:Bridge:bridge0' "$F"`,
      'user',
    );
    expect(ran.stdout).toBe('** Error: Command requires admin privileges.\n14\n');
    expect(ran.stderr.split('\n').slice(0, 3)).toEqual([
      'ifconfig: BRDGDEL en2: Operation not permitted',
      'ifconfig: SIOCIFDESTROY: Operation not permitted',
      'ifconfig: ioctl (SIOCAIFADDR): permission denied',
    ]);
    expect(await lines(state, 'user')).toEqual(before);
  });

  it("reports in macOS's words that SSH sessions lack Full Disk Access", async () => {
    await rack?.fleet.setFault(['no-full-disk-access', 'studio-1']);
    const ran = await sh('"$R/usr/sbin/networksetup" -setdhcp "Thunderbolt 2"');
    expect([ran.code, ran.stderr]).toEqual([1, 'Unable to access the System Configuration database\n']);
  });

  it('accepts a service order only if it names all services', async () => {
    const ran = await sh(`n=$R/usr/sbin/networksetup
      "$n" -ordernetworkservices Wi-Fi Ethernet; printf '%s\\n' "$?"
      set -- Wi-Fi
      for i in 6 5 4 3 2 1; do set -- "$@" "Thunderbolt $i"; done
      "$n" -ordernetworkservices "$@" Ethernet; printf '%s\\n' "$?"
      "$n" -listallnetworkservices`);
    expect(ran.stdout.trimEnd().split('\n')).toEqual([
      'Wrong number of network services... No changes have been made.',
      'Note: Quotes must be used around service names which contain spaces.',
      '** Error: The parameters were not valid.',
      '4',
      '0',
      'An asterisk (*) denotes that a network service is disabled.',
      'Wi-Fi',
      ...[6, 5, 4, 3, 2, 1].map((receptacle) => `Thunderbolt ${receptacle}`),
      'Ethernet',
    ]);
  });

  it('refuses invalid services, addresses and masks', async () => {
    const ran = await sh(`"$R/usr/sbin/networksetup" -setdhcp Nowhere
      "$R/usr/sbin/networksetup" -setmanual Ethernet 10.0.0 255.0.0.0
      "$R/usr/sbin/networksetup" -setmanual Ethernet 10.0.0.1 255.0.255.0 10.0.0.2
      "$R/usr/sbin/networksetup" -setnetworkserviceenabled Ethernet perhaps`);
    expect(ran.stdout.match(/^[^*].*$/gm)).toEqual([
      'Nowhere is not a recognized network service.',
      '10.0.0 is not a valid IP address.',
      '255.0.255.0 is not a valid subnet mask.',
    ]);
    expect((await rack?.fleet.unknown())?.['studio-1']).toEqual([
      '/usr/sbin/networksetup 3:-setnetworkserviceenabled Ethernet perhaps',
    ]);
  });
});

describe('the network preferences file on a simulated Mac', () => {
  it('is the source for all tools, however it was changed', async () => {
    const edit = `"$R/usr/bin/sed" 's/10\\.77\\.0\\.1</10.66.6.1</' "$F" >"$F.new" && "$R/bin/mv" "$F.new" "$F"`;
    const ran = await sh(`${edit}; "$R/usr/bin/plutil" -extract NetworkServices json -o - "$F"`);
    expect(ran.stdout).toContain('"Addresses":["10.66.6.1"]');
    expect((await sh('"$R/sbin/ifconfig" en3')).stdout).toContain('inet 10.66.6.1 ');
  });

  it('keeps entries that the simulated tools do not know', async () => {
    const edit = `"$R/usr/bin/sed" 's/<key>Sets</<key>Ours<\\/key><string>a \\&amp; b<\\/string><key>Sets</' "$F" >"$F.new"
      "$R/bin/mv" "$F.new" "$F"; "$R/usr/sbin/networksetup" -setdhcp "Thunderbolt 2"`;
    const ran = await sh(
      `${edit}; "$R/usr/libexec/PlistBuddy" -c 'Print :Ours' "$F"; "$R/usr/bin/grep" -c 'a &amp; b' "$F"`,
    );
    expect(ran.stdout).toBe('a & b\n1\n');
  });

  it('is printed by PlistBuddy, which names missing entries', async () => {
    const print = `"$R/usr/libexec/PlistBuddy" -c 'Print :VirtualNetworkInterfaces' "$F"`;
    const ran = await sh(
      `${print}; "$R/usr/libexec/PlistBuddy" -c 'Delete :VirtualNetworkInterfaces:Bridge:bridge0' "$F"`,
    );
    expect(ran).toMatchObject({
      code: 1,
      stdout: 'Dict {\n    Bridge = Dict {\n    }\n}\n',
      stderr: 'Delete: Entry, ":VirtualNetworkInterfaces:Bridge:bridge0", Does Not Exist\n',
    });
  });
});
