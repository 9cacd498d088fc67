import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { NetworkCall, ScriptCall } from '../../../src/model/node-script.ts';
import { keepText } from '../../../src/script/keeper.ts';
import { partingLines } from '../../../src/script/keeper-parting.ts';
import { changed, type MacRoot, makeMacRoot, ours, run, unchanged } from './mac-root.ts';
import { removedAfter } from './node-root.ts';
import { type Shell, scriptShells } from './shells.ts';

const newRoot = removedAfter(makeMacRoot);
const data = `${ours}/keeper/data`;
const mark = `${ours}/no-full-disk-access`;
const log = `${ours}/log/keeper`;

/** One round, as launchd starts it. */
async function round(root: MacRoot, shell: Shell): Promise<void> {
  root.file(`${ours}/keeper/keep`, keepText);
  const words = [...shell.argv.slice(0, -1), join(root.folder, ours, 'keeper/keep')];
  await root.run(`exec ${words.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ')}\n`);
}

const writes = (root: MacRoot): readonly string[] =>
  root.calls().filter((call) => /^(?:ifconfig \S+ (?:inet|deletem|destroy)|PlistBuddy -c Delete)/.test(call));

/** Receptacles 2 and 3 are en5 and en3, and en0 is no receptacle; `live` has the blocks of ifconfig. */
function withNetwork(root: MacRoot, live: string, bridges = ''): MacRoot {
  const ports = [
    ['Ethernet', 'en0'],
    ['Thunderbolt 2', 'en5'],
    ['Thunderbolt 3', 'en3'],
  ];
  root.file('../ports', ports.map(([port, device]) => `\nHardware Port: ${port}\nDevice: ${device}\n`).join(''));
  root.file('../live', live);
  root.file('../bridges', bridges);
  root.recorded('usr/sbin/networksetup', '/bin/cat "$R/../ports"');
  root.recorded('sbin/ifconfig', '/bin/cat "$R/../live"');
  root.recorded('usr/libexec/PlistBuddy', 'case $2 in (Print*Bridge) /bin/cat "$R/../bridges" ;; (*) exit 1 ;; esac');
  return root;
}

const up = (device: string, lines: string): string => `${device}: flags=8863<UP> mtu 1500\n${lines}\tstatus: active\n`;
const own = '\tinet 169.254.3.4 netmask 0xffff0000 broadcast 169.254.255.255\n';

describe.each(scriptShells)('a round of the keeper under $name', (shell) => {
  it('gives each receptacle its address at whatever interface it is now, and nothing to others', async () => {
    const root = withNetwork(
      newRoot(shell),
      `${up('en0', own)}${up('en5', own)}en3: flags=8863<UP>\n\tstatus: inactive\n`,
    );
    root.file(data, 'address 2 10.77.0.1 0xfffffffc\naddress 3 10.77.0.5 0xfffffffc\naddress 4 10.77.0.9 0xfffffffc\n');
    await round(root, shell);
    expect(writes(root)).toEqual(['ifconfig en5 inet 10.77.0.1 netmask 0xfffffffc']);
    expect(root.has(log)).toBe(false);
  });

  it('takes away a bridge of receptacles alone, and never one that a person made', async () => {
    const member = (name: string): string => `\tmember: ${name} flags=3<LEARNING>\n`;
    const bridges = (name: string, ...members: readonly string[]): string =>
      `    ${name} = Dict {\n        Interfaces = Array {\n${members.map((one) => `            ${one}\n`).join('')}        }\n    }\n`;
    const live = up('bridge0', member('en3') + member('en5')) + up('bridge1', member('en0') + member('en5'));
    const kept = `Dict {\n${bridges('bridge0', 'en3', 'en5')}${bridges('bridge1', 'en0', 'en5')}${bridges('bridge2')}}\n`;
    const root = withNetwork(newRoot(shell), live, kept);
    root.file(data, 'bridge remove\n');
    await round(root, shell);
    const file = `${root.folder}/Library/Preferences/SystemConfiguration/preferences.plist`;
    expect(writes(root)).toEqual([
      `PlistBuddy -c Delete :VirtualNetworkInterfaces:Bridge:bridge0 ${file}`,
      'ifconfig bridge0 deletem en3',
      'ifconfig bridge0 deletem en5',
      'ifconfig bridge0 destroy',
    ]);
  });

  it('leaves an interface alone that is in a bridge, one that has its address, and one without data', async () => {
    const bridged = up('bridge0', '\tmember: en5 flags=3<>\n') + up('en5', '');
    const right = up('en3', '\tinet 10.77.0.5 netmask 0xfffffffc broadcast 10.77.0.7\n');
    const root = withNetwork(newRoot(shell), bridged + right);
    root.file(data, 'address 2 10.77.0.1 0xfffffffc\naddress 3 10.77.0.5 0xfffffffc\n');
    await round(root, shell);
    expect(writes(root)).toEqual([]);
    const without = withNetwork(newRoot(shell), up('en5', own));
    await round(without, shell);
    expect(without.calls()).toEqual([]);
  });

  it('does nothing while a change of the network is pending, or being taken back', async () => {
    for (const state of ['pending', 'rolling']) {
      const root = withNetwork(newRoot(shell), up('en5', own));
      root.file(data, 'wired 4096\naddress 2 10.77.0.1 0xfffffffc\n');
      root.file(`${ours}/rollback/${state}/about`, '');
      await round(root, shell);
      expect([state, root.calls(), root.has('../wired')]).toEqual([state, [], false]);
    }
  });

  it('sets the wired limit again, says so once, and keeps its log short', async () => {
    const root = withNetwork(newRoot(shell), '');
    root.file(data, 'wired 4096\n');
    root.file(log, 'at=1 an older line that is long enough to fill a log\n'.repeat(2_000));
    await round(root, shell);
    await round(root, shell);
    const lines = root.read(log).trimEnd().split('\n');
    expect([root.read('../wired'), lines.length]).toEqual(['4096\n', 200]);
    expect(lines.at(-1)).toMatch(/^at=\d+ wired-limit from=0 to=4096$/);
    expect(root.read(`${ours}/keeper/last`)).toBe(`${lines.at(-1)}\n`);
  });
});

describe.each(scriptShells)('what a change does with the data of the keeper under $name', (shell) => {
  const set = (receptacle: number, address: string): NetworkCall => ({
    name: 'set-link-address',
    args: {
      service: 'a',
      hardwarePort: `Thunderbolt ${receptacle}`,
      device: 'en3',
      address,
      prefixLength: 30,
      create: false,
    },
  });
  const clear: NetworkCall = {
    name: 'clear-link-address',
    args: { service: 'a', device: 'en3', addresses: ['10.77.0.1'] },
  };
  const remove: NetworkCall = { name: 'remove-bridge', args: { bridge: 'bridge0', members: [], services: [] } };
  const order: NetworkCall = { name: 'order-services', args: { last: ['en3'] } };

  it.each<readonly [string, NetworkCall, readonly string[]]>([
    ['the same address goes when it is taken back', set(2, '10.77.0.1'), ['rolled']],
    ['another address at the receptacle goes when it stays', set(2, '10.77.0.13'), ['confirmed']],
    ['its address at another receptacle goes when it stays', set(3, '10.77.0.1'), ['confirmed']],
    ['an address elsewhere is nothing to it', set(20, '10.77.0.9'), []],
    ['an address that is cleared goes when it stays', clear, ['confirmed']],
    ['a bridge that is removed goes when it is taken back', remove, ['rolled']],
    ['an order of services is nothing to it', order, []],
  ])('%s', async (_, call, ends) => {
    const root = newRoot(shell);
    root.file(data, 'wired 4096\nbridge remove\naddress 2 10.77.0.1 0xfffffffc\n');
    root.file('q/about', '');
    await root.runBody(`q="$R/q"\n${partingLines(call)}\nchanged`);
    expect(['rolled', 'confirmed'].filter((end) => root.has(`q/keeper-${end}`))).toEqual(ends);
  });

  it('another wired limit goes at once', async () => {
    const root = newRoot(shell);
    root.file(data, 'wired 4096\n');
    await run(root, { name: 'set-wired-limit', args: { megabytes: 4_096 } });
    expect(root.has(data)).toBe(true);
    await run(root, { name: 'set-wired-limit', args: { megabytes: 8_192 } });
    expect(root.has(data)).toBe(false);
  });
});

describe.each(scriptShells)('a Mac that lets no ssh session change its network under $name', (shell) => {
  const refusal = "printf 'Unable to access the System Configuration database\\n' >&2; exit 1";
  const listing = 'An asterisk (*) denotes that a network service is disabled.\\nThunderbolt 2\\n';
  const setup = (set: string): string => `case $1 in
(-listallnetworkservices) printf '${listing}' ;;
(-getnetworkserviceenabled) printf 'Enabled\\n' ;;
(-getinfo) /bin/cat "$R/../info" ;;
(-listnetworkserviceorder) printf '(1) Thunderbolt 2\\n(Hardware Port: Thunderbolt 2, Device: en3)\\n\\n(2) Ethernet\\n(Hardware Port: Ethernet, Device: en0)\\n' ;;
(-set*|-order*) ${set} ;;
esac`;
  const withMac = (): MacRoot => {
    const root = newRoot(shell);
    root.file('../info', 'DHCP Configuration\n');
    root.file('../live', '169.254.7.7');
    root.recorded('usr/sbin/networksetup', setup(refusal));
    root.recorded(
      'sbin/ifconfig',
      `case "$*" in
(en3) printf '\\tinet %s netmask 0xfffffffc\\n\\tstatus: active\\n' "$(/bin/cat "$R/../live")" ;;
('en3 inet '*) printf %s "$3" >"$R/../live" ;;
(*) exit 1 ;;
esac`,
    );
    root.recorded('usr/libexec/PlistBuddy', 'exit 1');
    return root;
  };
  const address = (keeper: { readonly keeper?: true }): ScriptCall => ({
    name: 'set-link-address',
    args: {
      service: 'Thunderbolt 2',
      hardwarePort: 'Thunderbolt 2',
      device: 'en3',
      address: '10.77.0.1',
      prefixLength: 30,
      create: false,
      ...keeper,
    },
  });

  it('gives the interface its address without the service, once, and is marked', async () => {
    const root = withMac();
    expect(await run(root, address({ keeper: true }))).toEqual(changed);
    expect([root.read('../live'), root.has(mark)]).toEqual(['10.77.0.1', true]);
    expect(await run(root, address({ keeper: true }))).toEqual(unchanged);
  });

  it('fails as before where no keeper holds the address, and is not marked', async () => {
    const root = withMac();
    expect(await run(root, address({}))).toEqual({
      kind: 'failed',
      slug: 'no-full-disk-access',
      text: 'Unable to access the System Configuration database',
    });
    expect([root.read('../live'), root.has(mark)]).toEqual(['169.254.7.7', false]);
  });

  it('leaves service of a bridge and order as they are, and that is no failure', async () => {
    const root = withMac();
    const bridge = { bridge: 'bridge0', members: [], services: ['Thunderbolt 2'], keeper: true } as const;
    expect(await run(root, { name: 'remove-bridge', args: bridge })).toEqual(unchanged);
    const order = { last: ['en3'], keeper: true } as const;
    expect(await run(root, { name: 'order-services', args: order })).toEqual(unchanged);
    expect(root.has(mark)).toBe(true);
  });

  it('loses its mark as soon as networksetup may set something', async () => {
    const root = withMac();
    root.file(mark, 'since=1\n');
    root.recorded(
      'usr/sbin/networksetup',
      setup(`printf 'Manual Configuration\\nIP address: 10.77.0.1\\nSubnet mask: 255.255.255.252\\n' >"$R/../info"`),
    );
    expect(await run(root, address({ keeper: true }))).toEqual(changed);
    expect(root.has(mark)).toBe(false);
  });
});
