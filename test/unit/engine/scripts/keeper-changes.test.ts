import { describe, expect, it } from 'vitest';
import { transactionBody } from '../../../../src/engine/scripts/transaction.ts';
import type { NetworkCall, ScriptCall } from '../../../../src/model/node-script.ts';
import { serviceValues } from '../../../../src/node/launchd-service.ts';
import { keeperLabel, keeperPlist } from '../../../../src/node/paths/keeper-files.ts';
import { sh } from '../../../../src/rack/network/transaction/scripts.generated.ts';
import { partingLines } from '../../../../src/rack/network/transaction/transaction-script.ts';
import { changed, type MacRoot, makeMacRoot, ours, run, unchanged } from './mac-root.ts';
import { removedAfter } from './node-root.ts';
import { exampleFence } from './script-examples.ts';
import { scriptShells } from './shells.ts';

const newRoot = removedAfter(makeMacRoot);
const data = `${ours}/keeper/data`;
const mark = `${ours}/no-full-disk-access`;

describe.each(scriptShells)('the wait for a keeper round in $name', (shell) => {
  const shown = (words: string): string => `printf '${words}\\n'`;
  it.each<readonly [string, string, 'changed' | 'not-quiet']>([
    ['continues if the keeper is not loaded', `${shown('Could not find service')}; exit 113`, 'changed'],
    ['continues if no round is running', shown('system/x = {\\n\\tstate = not running\\n}'), 'changed'],
    ['fails if launchd reports no state', `${shown('Bad request.')}; exit 5`, 'not-quiet'],
    [
      'fails if a round does not finish',
      shown('system/x = {\\n\\tstate = running\\n\\tpid = 99999999\\n}'),
      'not-quiet',
    ],
  ])('%s', async (_, launchctl, wanted) => {
    const root = newRoot(shell);
    root.file('Library/LaunchDaemons/dev.meshwright.keeper.plist', '');
    root.recorded('bin/launchctl', launchctl);
    root.tool('bin/sleep', '');
    const service = serviceValues('dev.meshwright.transaction');
    const functions = sh.quiet({ ...service, keeper_label: keeperLabel, keeper_plist: keeperPlist });
    const { result } = await root.runBody(`${functions}\nquiet || failed not-quiet ''\nchanged`);
    expect(result).toMatchObject(wanted === 'changed' ? changed : { kind: 'failed', slug: wanted });
  });
});

describe.each(scriptShells)('a network change whose rollback launchd refuses, in $name', (shell) => {
  it('fails after three bootstrap attempts and leaves nothing pending', async () => {
    const root = newRoot(shell);
    const asleep = "(print) printf 'Could not find service\\n'; exit 113 ;;";
    root.recorded(
      'bin/launchctl',
      `case $1 in ${asleep} (bootstrap) printf 'Input/output error\\n' >&2; exit 5 ;; esac`,
    );
    root.file('Library/Preferences/SystemConfiguration/preferences.plist', '');
    root.file('Library/LaunchDaemons/com.example.plist', '');
    root.tool('usr/sbin/chown', '');
    root.tool('bin/sleep', '');
    const { result } = await root.runBody(
      transactionBody({
        call: { name: 'order-services', args: { last: ['en3'] } },
        seconds: 60,
        fence: exampleFence,
        note: { step: 'studio-1/service-order/set', verb: 'apply', by: 'ana@desk', config: 'c' },
      }),
    );
    expect(result).toMatchObject({ kind: 'failed', slug: 'not-armed', text: 'Input/output error' });
    expect(root.calls().filter((call) => call.startsWith('launchctl bootstrap'))).toHaveLength(3);
    expect(root.has(`${ours}/transaction/pending`)).toBe(false);
  });
});

describe.each(scriptShells)('keeper data after a network change in $name', (shell) => {
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
  const clear = (receptacle: number): NetworkCall => ({
    name: 'clear-link-address',
    args: { service: 'a', hardwarePort: `Thunderbolt ${receptacle}`, device: 'en3', addresses: ['10.77.0.1'] },
  });
  const remove: NetworkCall = { name: 'remove-bridge', args: { bridge: 'bridge0', members: [], services: [] } };
  const order: NetworkCall = { name: 'order-services', args: { last: ['en3'] } };

  it.each<readonly [string, NetworkCall, readonly string[]]>([
    ['drops an address whose change is rolled back', set(2, '10.77.0.1'), ['rolled']],
    ['drops an address replaced by a confirmed change', set(2, '10.77.0.13'), ['confirmed']],
    ['drops an address that a confirmed change moved to another receptacle', set(3, '10.77.0.1'), ['confirmed']],
    ['ignores an unrelated address', set(20, '10.77.0.9'), []],
    ['drops an address cleared by a confirmed change', clear(2), ['confirmed']],
    ['keeps an address that is cleared from the wrong receptacle', clear(3), []],
    ['drops the bridge removal if that is rolled back', remove, ['rolled']],
    ['ignores a service order', order, []],
  ])('%s', async (_, call, ends) => {
    const root = newRoot(shell);
    root.file(data, 'wired 4096\nbridge remove\naddress 2 10.77.0.1 0xfffffffc\n');
    root.file('q/about', '');
    await root.runBody(`q="$R/q"\n${partingLines(call)}\nchanged`);
    expect(['rolled', 'confirmed'].filter((end) => root.has(`q/keeper-${end}`))).toEqual(ends);
  });

  it('drops the wired limit immediately if a different limit is set', async () => {
    const root = newRoot(shell);
    root.file(data, 'wired 4096\n');
    await run(root, { name: 'set-wired-limit', args: { megabytes: 4_096 } });
    expect(root.has(data)).toBe(true);
    await run(root, { name: 'set-wired-limit', args: { megabytes: 8_192 } });
    expect(root.has(data)).toBe(false);
  });
});

describe.each(scriptShells)('a Mac without full disk access in $name', (shell) => {
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

  it('sets the address on the interface once and writes the mark', async () => {
    const root = withMac();
    expect(await run(root, address({ keeper: true }))).toEqual(changed);
    expect([root.read('../live'), root.has(mark)]).toEqual(['10.77.0.1', true]);
    expect(await run(root, address({ keeper: true }))).toEqual(unchanged);
  });

  it('fails without a mark if no keeper maintains the address', async () => {
    const root = withMac();
    expect(await run(root, address({}))).toEqual({
      kind: 'failed',
      slug: 'no-full-disk-access',
      text: 'Unable to access the System Configuration database',
    });
    expect([root.read('../live'), root.has(mark)]).toEqual(['169.254.7.7', false]);
  });

  it('skips the bridge service and the service order without failing', async () => {
    const root = withMac();
    const bridge = { bridge: 'bridge0', members: [], services: ['Thunderbolt 2'], keeper: true } as const;
    expect(await run(root, { name: 'remove-bridge', args: bridge })).toEqual(unchanged);
    const order = { last: ['en3'], keeper: true } as const;
    expect(await run(root, { name: 'order-services', args: order })).toEqual(unchanged);
    expect(root.has(mark)).toBe(true);
  });

  it('skips an unreadable service order only with a keeper', async () => {
    const root = withMac();
    root.recorded('usr/sbin/networksetup', refusal);
    const order = { last: ['en3'] } as const;
    const without = await run(root, { name: 'order-services', args: order });
    expect([without, root.has(mark)]).toMatchObject([{ kind: 'failed', slug: 'no-full-disk-access' }, false]);
    expect(await run(root, { name: 'order-services', args: { ...order, keeper: true } })).toEqual(unchanged);
    expect(root.has(mark)).toBe(true);
  });

  it('removes the bridge even if its service cannot be read', async () => {
    const root = withMac();
    root.recorded('usr/sbin/networksetup', refusal);
    root.file('../bridge', '');
    root.recorded(
      'sbin/ifconfig',
      `case "$*" in (bridge0) [ -e "$R/../bridge" ] ;; ('bridge0 destroy') /bin/rm "$R/../bridge" ;; esac`,
    );
    const bridge = { bridge: 'bridge0', members: [], services: ['Thunderbolt 2'], keeper: true } as const;
    expect(await run(root, { name: 'remove-bridge', args: bridge })).toEqual(changed);
    expect([root.has('../bridge'), root.has(mark)]).toEqual([false, true]);
  });

  it('loses its mark once networksetup can change a setting', async () => {
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
