import type { NetworkCall, ScriptArgs, ScriptCall } from '../../../../src/model/node-script.ts';
import { ours } from './mac-root.ts';
import { common, net, reads, shown } from './network-tools.ts';
import { itInEachState } from './node-states.ts';

const clear = (service: string | undefined, ...addresses: readonly string[]): ScriptCall => ({
  name: 'clear-link-address',
  args: {
    ...(service === undefined ? {} : { service }),
    hardwarePort: 'Thunderbolt 2',
    device: 'en3',
    addresses,
  } as ScriptArgs['clear-link-address'],
});
const inet = (...addresses: readonly string[]): string =>
  `en3: flags=1<UP>\n${addresses.map((one) => `\tinet ${one} netmask 0xfffffffc\n`).join('')}\tstatus: active\n`;
const alias = 'ifconfig en3 inet 10.77.0.1 -alias';

itInEachState(
  'clear-link-address',
  [
    [
      'changes nothing if the service has DHCP and the interface no address',
      clear('Cable', '10.77.0.1'),
      net({ 'net/info': 'DHCP Configuration\n', 'if/en3': inet('10.77.0.10') }),
      { ends: 'unchanged', calls: [] },
    ],
    [
      'sets only the service back',
      clear('Cable', '10.77.0.1'),
      net({ 'net/info': 'Manual Configuration\n', 'if/en3': inet() }),
      { ends: 'changed', calls: ['networksetup -setdhcp Cable'] },
    ],
    [
      'clears only the interface',
      clear('Cable', '10.77.0.5', '10.77.0.1'),
      net({ 'net/info': 'DHCP Configuration\n', 'if/en3': inet('10.77.0.1') }),
      { ends: 'changed', calls: [alias] },
    ],
    [
      'asks no service of an interface that has none',
      clear(undefined, '10.77.0.1'),
      net({ 'net/info': 'Manual Configuration\n', 'if/en3': inet('10.77.0.1') }),
      { ends: 'changed', calls: [alias] },
    ],
    ['changes nothing without the interface', clear(undefined, '10.77.0.1'), {}, { ends: 'unchanged', calls: [] }],
    [
      'fails if the service keeps its address',
      clear('Cable'),
      net({ 'net/info': 'Manual Configuration\n', deaf: '-setdhcp' }),
      {
        ends: 'networksetup: networksetup reported success, but shows something other than DHCP: Manual Configuration',
      },
    ],
    [
      'fails if the interface keeps its address',
      clear(undefined, '10.77.0.1'),
      net({ 'if/en3': inet('10.77.0.1'), deaf: 'inet' }),
      { ends: 'ifconfig: the interface keeps 10.77.0.1' },
    ],
  ],
  common,
  reads,
);

const set = (create: boolean): ScriptCall => ({
  name: 'set-link-address',
  args: {
    service: 'Cable',
    hardwarePort: 'Thunderbolt 2',
    device: 'en3',
    address: '10.77.0.1',
    prefixLength: 30,
    create,
  },
});
const right = 'Manual Configuration\nIP address: 10.77.0.1\nSubnet mask: 255.255.255.252\n';
const ready = { 'net/list': 'Ethernet\nCable\n', 'net/on.Cable': '', 'net/info': right, 'if/en3': inet('10.77.0.1') };
const manually = 'networksetup -setmanual Cable 10.77.0.1 255.255.255.252';
const direct = 'ifconfig en3 inet 10.77.0.1 netmask 255.255.255.252';

itInEachState(
  'set-link-address',
  [
    ['changes nothing if everything is right', set(false), net(ready), { ends: 'unchanged', calls: [] }],
    [
      'creates a missing service',
      set(true),
      net({ ...ready, 'net/list': 'Cable 2\n' }),
      { ends: 'changed', calls: ['networksetup -createnetworkservice Cable Thunderbolt 2'] },
    ],
    [
      'fails if the service is not created',
      set(true),
      net({ ...ready, 'net/list': 'Cable 2\n', deaf: '-createnetworkservice' }),
      { ends: 'networksetup: the network service was not created' },
    ],
    [
      'finds a service that is off, and fails if it stays off',
      set(false),
      {
        files: {
          ...net({ ...ready, 'net/list': '*Cable\n', deaf: '-setnetworkserviceenabled' }).files,
          '../net/on.Cable': null,
        },
      },
      {
        ends: 'networksetup: the network service stayed off',
        calls: ['networksetup -setnetworkserviceenabled Cable on'],
      },
    ],
    [
      'replaces a different mask',
      set(false),
      net({ ...ready, 'net/info': right.replace('.252', '.0') }),
      { ends: 'changed', calls: [manually] },
    ],
    [
      'replaces a different address',
      set(false),
      net({ ...ready, 'net/info': right.replace('0.1', '0.10') }),
      { ends: 'changed', calls: [manually] },
    ],
    [
      'replaces DHCP with the same address',
      set(false),
      net({ ...ready, 'net/info': right.replace('Manual', 'DHCP') }),
      { ends: 'changed', calls: [manually] },
    ],
    [
      'fails if the address differs',
      set(false),
      net({ ...ready, 'net/info': 'DHCP Configuration\n', deaf: '-setmanual' }),
      { ends: shown },
    ],
    [
      'restores an address that the interface has lost',
      set(false),
      net({ ...ready, 'if/en3': inet('10.77.0.10') }),
      { ends: 'changed', calls: [direct] },
    ],
    [
      'leaves an interface without a cable',
      set(false),
      net({ ...ready, 'if/en3': inet().replace('active', 'inactive') }),
      { ends: 'unchanged', calls: [] },
    ],
    [
      'leaves an interface that is missing',
      set(false),
      { files: { ...net(ready).files, '../if/en3': null } },
      { ends: 'unchanged', calls: [] },
    ],
    [
      'does not set the interface after the service',
      set(false),
      net({ ...ready, 'net/info': 'DHCP Configuration\n', 'if/en3': inet() }),
      { ends: 'changed', calls: [manually] },
    ],
    [
      'fails if the interface does not take the address',
      set(false),
      net({ ...ready, 'if/en3': inet(), deaf: 'inet' }),
      { ends: `ifconfig: ifconfig reported success, but the interface lacks the address: ${inet().split('\n')[0]}` },
    ],
  ],
  common,
  reads,
);

const last = (...devices: readonly string[]): NetworkCall => ({ name: 'order-services', args: { last: devices } });
const order = 'Cable|en3\nWi-Fi|en1\nVPN|\nEthernet|en0\n';
itInEachState(
  'order-services',
  [
    [
      'moves a service to the end',
      last('en3'),
      net({ 'net/order': order }),
      { ends: 'changed', calls: ['networksetup -ordernetworkservices Wi-Fi VPN Ethernet Cable'] },
    ],
    ['changes nothing in the right order', last('en0'), net({ 'net/order': order }), { ends: 'unchanged', calls: [] }],
    [
      'changes nothing without the device',
      last('en30', 'e'),
      net({ 'net/order': order }),
      { ends: 'unchanged', calls: [] },
    ],
    [
      'fails without any service',
      last('en3'),
      net({ 'net/order': '' }),
      { ends: 'networksetup: networksetup lists no service' },
    ],
    [
      'fails if the order stays',
      last('en3'),
      net({ 'net/order': order, deaf: '-ordernetworkservices' }),
      { ends: 'networksetup: networksetup reported success, but the order did not change' },
    ],
  ],
  common,
  reads,
);

const label = 'io.exo.networksetup';
const plist = `Library/LaunchDaemons/${label}.plist`;
const kept = `${ours}/foreign/${label}.plist`;
const was = `${ours}/foreign/${label}`;
const stopDaemon = (isRemoved: boolean): ScriptCall => ({ name: 'stop-daemon', args: { label, remove: isRemoved } });
const loaded = { [`launchd/${label}`]: 'state = waiting\n' };
const off = { overrides: `\t"${label}" => disabled\n` };
const [bootout, disable] = ['bootout', 'disable'].map((verb) => `launchctl ${verb} system/${label}`);
const returnDaemon = (load: boolean): ScriptCall => ({ name: 'return-daemon', args: { label, load } });
const back = [`launchctl enable system/${label}`, `launchctl bootstrap system $R/${plist}`];

itInEachState(
  'a foreign network daemon',
  [
    [
      'is unloaded and disabled',
      stopDaemon(false),
      net(loaded),
      { ends: 'changed', calls: [bootout ?? '', disable ?? ''], leaves: { [was]: 'was=loaded\n' } },
    ],
    [
      'is only unloaded if it is disabled',
      stopDaemon(false),
      net({ ...loaded, ...off }),
      { ends: 'changed', calls: [bootout ?? ''] },
    ],
    [
      'is only disabled if it is not loaded',
      stopDaemon(false),
      {},
      { ends: 'changed', calls: [disable ?? ''], leaves: { [was]: 'was=\n' } },
    ],
    [
      'is disabled in the words of an older macOS',
      stopDaemon(false),
      net({ overrides: `\t"${label}" => true\n` }),
      { ends: 'unchanged', calls: [] },
    ],
    [
      'keeps the first record of its state',
      stopDaemon(false),
      { files: { [was]: 'was=loaded\n', '../overrides': off.overrides } },
      { ends: 'unchanged', leaves: { [was]: 'was=loaded\n' } },
    ],
    [
      'keeps its file unless it is removed',
      stopDaemon(false),
      { files: { [plist]: 'theirs', '../overrides': off.overrides } },
      { ends: 'unchanged', leaves: { [plist]: 'theirs', [kept]: null } },
    ],
    [
      'loses its file to the kept ones',
      stopDaemon(true),
      { files: { [plist]: 'theirs', '../overrides': off.overrides } },
      { ends: 'changed', leaves: { [plist]: null, [kept]: 'theirs' } },
    ],
    ['needs no file to be removed', stopDaemon(true), net(off), { ends: 'unchanged' }],
    [
      'gets its file back and is not loaded',
      returnDaemon(false),
      { files: { [kept]: 'theirs' } },
      { ends: 'changed', leaves: { [plist]: 'theirs', [kept]: null }, calls: [] },
    ],
    [
      'keeps a newer file',
      returnDaemon(false),
      { files: { [kept]: 'theirs', [plist]: 'newer' } },
      { ends: 'unchanged', leaves: { [plist]: 'newer', [kept]: 'theirs' } },
    ],
    ['is loaded on request', returnDaemon(true), { files: { [plist]: 'theirs' } }, { ends: 'changed', calls: back }],
    [
      'is not loaded twice',
      returnDaemon(true),
      { files: { [plist]: 'theirs', [`../launchd/${label}`]: 'state = waiting\n' } },
      { ends: 'unchanged', calls: [] },
    ],
    ['is not loaded without a file', returnDaemon(true), {}, { ends: 'unchanged', calls: [] }],
  ],
  common,
  reads,
);
