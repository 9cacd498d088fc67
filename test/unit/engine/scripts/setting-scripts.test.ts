import { describe, expect, it } from 'vitest';
import type { ScriptCall } from '../../../../src/model/node-script.ts';
import { changed, type MacRoot, makeMacRoot, run, unchanged } from './mac-root.ts';
import { removedAfter } from './node-root.ts';
import { scriptShells } from './shells.ts';

const newRoot = removedAfter(makeMacRoot);
/** The calls that changed the node, without those that only read. */
const writes = (root: MacRoot, reads: RegExp): readonly string[] => root.calls().filter((call) => !reads.test(call));

describe.each(scriptShells)('set-power in $name', (shell) => {
  const call: ScriptCall = { name: 'set-power', args: { sleepMinutes: 0, restartAfterPowerLoss: true } };
  /** A pmset whose battery section comes first and has the same keys. */
  const pmset = (take: string) => `case "$*" in
('-g custom') printf 'Battery Power:\\n sleep                0\\n autorestart          1\\nAC Power:\\n Sleep On Power Button 1\\n'
  printf ' sleep                %s\\n autorestart          %s\\n' "$(/bin/cat "$R/../sleep")" "$(/bin/cat "$R/../auto")" ;;
(-c*) ${take} ;;
esac`;
  const taking = `shift
while [ $# -gt 0 ]; do
  case $1 in (sleep) printf %s "$2" >"$R/../sleep" ;; (autorestart) printf %s "$2" >"$R/../auto" ;; esac
  shift 2
done`;

  it('sets the AC power settings once and reads them back', async () => {
    const root = newRoot(shell);
    root.file('../sleep', '10');
    root.file('../auto', '0');
    root.recorded('usr/bin/pmset', pmset(taking));
    expect(await run(root, call)).toEqual(changed);
    expect(await run(root, call)).toEqual(unchanged);
    expect(writes(root, /-g/)).toEqual(['pmset -c sleep 0 autorestart 1']);
    expect(await run(root, { name: 'set-power', args: { sleepMinutes: 30 } })).toEqual(changed);
    expect([root.read('../sleep'), root.read('../auto')]).toEqual(['30', '1']);
  });

  it('fails when pmset accepts the settings but shows others', async () => {
    const root = newRoot(shell);
    root.file('../sleep', '10');
    root.file('../auto', '0');
    root.tool('bin/sleep', 'exit 0');
    root.recorded('usr/bin/pmset', pmset(':'));
    expect(await run(root, call)).toMatchObject({ kind: 'failed', slug: 'pmset' });
    root.recorded('usr/bin/pmset', pmset('printf "\'pmset\' must be run as root...\\n" >&2; exit 1'));
    expect(await run(root, call)).toMatchObject({ slug: 'pmset', text: "'pmset' must be run as root..." });
  });
});

describe.each(scriptShells)('set-wired-limit in $name', (shell) => {
  it('sets the limit once and reads it back', async () => {
    const root = newRoot(shell);
    const call: ScriptCall = { name: 'set-wired-limit', args: { megabytes: 491_520 } };
    expect(await run(root, call)).toEqual(changed);
    expect(root.read('../wired')).toBe('491520\n');
    expect(await run(root, call)).toEqual(unchanged);
    root.tool('usr/sbin/sysctl', 'case $* in (-n*) printf "0\\n" ;; esac');
    expect(await run(root, call)).toMatchObject({ kind: 'failed', slug: 'sysctl' });
  });
});

/** Creates a bridge of three layers, each represented by a file. */
function withBridge(root: MacRoot): void {
  for (const layer of ['interface', 'preferences', 'service-on']) root.file(`../${layer}`, '');
  root.recorded(
    'sbin/ifconfig',
    `[ -e "$R/../interface" ] || { printf 'ifconfig: interface %s does not exist\\n' "$1" >&2; exit 1; }
case "$*" in ('bridge0 destroy') /bin/rm "$R/../interface" ;; esac`,
  );
  root.recorded(
    'usr/libexec/PlistBuddy',
    `[ -e "$R/../preferences" ] || { printf 'Print: Entry, "%s", Does Not Exist\\n' "$2" >&2; exit 1; }
case $2 in (Delete*) /bin/rm "$R/../preferences" ;; esac`,
  );
  root.recorded(
    'usr/sbin/networksetup',
    `case "$1 \${3-}" in
('-getnetworkserviceenabled ') [ -e "$R/../service-on" ] && printf 'Enabled\\n' || printf 'Disabled\\n' ;;
('-setnetworkserviceenabled off') /bin/rm "$R/../service-on" ;;
esac`,
  );
}

describe.each(scriptShells)('remove-bridge in $name', (shell) => {
  const call: ScriptCall = {
    name: 'remove-bridge',
    args: { bridge: 'bridge0', members: ['en2', 'en3'], services: ['Thunderbolt Bridge'] },
  };
  const reads = /-get|Print|^ifconfig bridge0$/;

  it('removes the service, the preferences entry and the interface, and only once', async () => {
    const root = newRoot(shell);
    withBridge(root);
    expect(await run(root, call)).toEqual(changed);
    expect(writes(root, reads)).toEqual([
      'networksetup -setnetworkserviceenabled Thunderbolt Bridge off',
      `PlistBuddy -c Delete :VirtualNetworkInterfaces:Bridge:bridge0 ${root.folder}/Library/Preferences/SystemConfiguration/preferences.plist`,
      'ifconfig bridge0 deletem en2',
      'ifconfig bridge0 deletem en3',
      'ifconfig bridge0 destroy',
    ]);
    expect(await run(root, call)).toEqual(unchanged);
  });

  it('removes the remaining layers of a partly removed bridge', async () => {
    for (const gone of ['interface', 'preferences', 'service-on']) {
      const root = newRoot(shell);
      withBridge(root);
      await root.run(`/bin/rm '${root.folder.replaceAll("'", "'\\''")}/../${gone}'`);
      expect([gone, await run(root, call)]).toEqual([gone, changed]);
      expect([gone, await run(root, call)]).toEqual([gone, unchanged]);
    }
  });

  it('removes the other two layers and fails when the service cannot be changed', async () => {
    const root = newRoot(shell);
    withBridge(root);
    root.recorded(
      'usr/sbin/networksetup',
      `case $1 in (-get*) printf 'Enabled\\n' ;; (*) printf 'Unable to access the System Configuration database\\n' >&2 ;; esac`,
    );
    expect(await run(root, call)).toEqual({
      kind: 'failed',
      slug: 'no-full-disk-access',
      text: 'Unable to access the System Configuration database',
    });
    expect([root.has('../interface'), root.has('../preferences')]).toEqual([false, false]);
  });

  it('fails when a tool exits with 0 but the bridge is still there', async () => {
    const root = newRoot(shell);
    withBridge(root);
    root.recorded('sbin/ifconfig', 'exit 0');
    expect(await run(root, call)).toMatchObject({ kind: 'failed', slug: 'ifconfig' });
    withBridge(root);
    root.recorded('usr/sbin/networksetup', `case $1 in (-get*) printf 'Enabled\\n' ;; esac`);
    expect(await run(root, call)).toMatchObject({ kind: 'failed', slug: 'networksetup' });
  });
});

/** A service with its port; its state is in the files `mode`, `address`, `on` and `there`. */
const networkSetup = `s="$R/../net"
case $1 in
(-listallnetworkservices)
  printf 'An asterisk (*) denotes that a network service is disabled.\\nEthernet\\n'
  [ ! -e "$s/there" ] || { [ -e "$s/on" ] || printf '*'; printf "Ana's cable\\n"; } ;;
(-createnetworkservice) [ "$3" = 'Thunderbolt 2' ] && : >"$s/there" && : >"$s/on" ;;
(-getnetworkserviceenabled) [ -e "$s/on" ] && printf 'Enabled\\n' || printf 'Disabled\\n' ;;
(-setnetworkserviceenabled) : >"$s/on" ;;
(-getinfo) /bin/cat "$s/info" ;;
(-setmanual) printf 'Manual Configuration\\nIP address: %s\\nSubnet mask: %s\\nRouter: (null)\\nIPv6: Automatic\\n' "$3" "$4" >"$s/info" ;;
(-setdhcp) printf 'DHCP Configuration\\nClient ID: \\nIPv6: Automatic\\n' >"$s/info" ;;
esac`;

describe.each(scriptShells)('the link address scripts in $name', (shell) => {
  const args = {
    service: "Ana's cable",
    hardwarePort: 'Thunderbolt 2',
    device: 'en3',
    address: '10.77.0.1',
    prefixLength: 30,
    create: true,
  };
  const withNetwork = (files: readonly string[]): MacRoot => {
    const root = newRoot(shell);
    root.file('../net/info', 'DHCP Configuration\nIP address: 10.77.0.1\nSubnet mask: 255.255.255.252\n');
    for (const file of files) root.file(`../net/${file}`, '');
    root.file('../net/live', '10.77.0.1');
    root.file('../net/status', 'active');
    root.recorded('usr/sbin/networksetup', networkSetup);
    root.recorded('sbin/ifconfig', ifconfig);
    return root;
  };
  /** An interface with a cable; the file `live` contains its address. */
  const ifconfig = `s="$R/../net"
case "$*" in
(en3)
  [ ! -e "$s/live" ] || printf '\\tinet %s netmask 0xfffffffc\\n' "$(/bin/cat "$s/live")"
  printf '\\tstatus: %s\\n' "$(/bin/cat "$s/status")" ;;
('en3 inet '*-alias) /bin/rm "$s/live" ;;
('en3 inet '*) printf %s "$3" >"$s/live" ;;
esac`;
  const reads = /-(?:get|list)|^ifconfig en3$/;

  it('sets the address once, creating or enabling the service if needed', async () => {
    const set = "networksetup -setmanual Ana's cable 10.77.0.1 255.255.255.252";
    for (const [files, expected] of [
      [[], ["networksetup -createnetworkservice Ana's cable Thunderbolt 2", set]],
      [['there'], ["networksetup -setnetworkserviceenabled Ana's cable on", set]],
      [['there', 'on'], [set]],
    ] as const) {
      const root = withNetwork(files);
      expect(await run(root, { name: 'set-link-address', args })).toEqual(changed);
      expect(writes(root, reads)).toEqual(expected);
      expect(await run(root, { name: 'set-link-address', args })).toEqual(unchanged);
    }
  });

  it('fails when the service is missing and may not be created', async () => {
    const root = withNetwork([]);
    expect(await run(root, { name: 'set-link-address', args: { ...args, create: false } })).toMatchObject({
      kind: 'failed',
      slug: 'no-service',
    });
    expect(writes(root, reads)).toEqual([]);
  });

  it('clears the address once', async () => {
    const root = withNetwork(['there', 'on']);
    const clear: ScriptCall = {
      name: 'clear-link-address',
      args: { service: "Ana's cable", hardwarePort: 'Thunderbolt 2', device: 'en3', addresses: ['10.77.0.1'] },
    };
    await run(root, { name: 'set-link-address', args });
    expect(await run(root, clear)).toEqual(changed);
    expect(root.has('../net/live')).toBe(false);
    expect(await run(root, clear)).toEqual(unchanged);
  });

  it('restores an address that the interface has lost', async () => {
    const root = withNetwork(['there', 'on']);
    const call: ScriptCall = { name: 'set-link-address', args };
    await run(root, call);
    root.file('../net/live', '169.254.7.7');
    expect(await run(root, call)).toEqual(changed);
    expect(root.calls().at(-2)).toBe('ifconfig en3 inet 10.77.0.1 netmask 255.255.255.252');
    expect(await run(root, call)).toEqual(unchanged);
  });

  it('changes nothing on an interface without a cable', async () => {
    const root = withNetwork(['there', 'on']);
    const call: ScriptCall = { name: 'set-link-address', args };
    await run(root, call);
    root.file('../net/live', '169.254.7.7');
    root.file('../net/status', 'inactive');
    expect(await run(root, call)).toEqual(unchanged);
  });

  it('fails on an error printed by networksetup, even with exit code 0', async () => {
    const root = withNetwork(['there', 'on']);
    const refused = (words: string) =>
      root.recorded(
        'usr/sbin/networksetup',
        `case $1 in (-set*) printf '${words}\\n'; exit 0 ;; esac\n${networkSetup}`,
      );
    refused('** Error: The parameters were not valid.');
    expect(await run(root, { name: 'set-link-address', args })).toEqual({
      kind: 'failed',
      slug: 'networksetup',
      text: '-setmanual: ** Error: The parameters were not valid.',
    });
    refused('Unable to access the System Configuration database');
    expect(await run(root, { name: 'set-link-address', args })).toMatchObject({ slug: 'no-full-disk-access' });
    refused('');
    expect(await run(root, { name: 'set-link-address', args })).toMatchObject({ slug: 'networksetup' });
  });
});
