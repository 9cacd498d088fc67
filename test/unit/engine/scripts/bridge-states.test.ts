import type { ScriptArgs, ScriptCall } from '../../../../src/model/node-script.ts';
import { common, net, reads, shown } from './network-tools.ts';
import { itInEachState } from './node-states.ts';

const preferences = '$R/Library/Preferences/SystemConfiguration/preferences.plist';
const member = (...names: readonly string[]): string => names.map((one) => `\tmember: ${one} flags=3\n`).join('');
const up = 'bridge0: flags=8863<UP,BROADCAST>\n';
const down = 'bridge0: flags=8822<BROADCAST>\n';

const restore = (part: Partial<ScriptArgs['restore-network']>): ScriptCall => ({
  name: 'restore-network',
  args: { made: [], switched: [], manual: [], order: [], ...part },
});
const bridge = restore({ bridge: { name: 'bridge0', interfaces: ['en2', 'en3'] } });
const insert = `plutil -insert VirtualNetworkInterfaces.Bridge.bridge0 -json {"Interfaces":["en2","en3"]} ${preferences}`;
const made = restore({ made: ['Cable'] });
const switched = (on: boolean): ScriptCall => restore({ switched: [{ service: 'Cable', on }] });
const manual = restore({ manual: [{ service: 'Cable', device: 'en4', address: '192.0.2.7', prefixLength: 24 }] });
const ordered = restore({ order: ['B', 'A'] });

itInEachState(
  'restore-network',
  [
    [
      'restores every part of a bridge',
      bridge,
      {},
      {
        ends: 'changed',
        calls: [insert, ...['create', 'addm en2', 'addm en3', 'up'].map((one) => `ifconfig bridge0 ${one}`)],
      },
    ],
    [
      'changes nothing on a whole bridge',
      bridge,
      net({ preferences: '', 'if/bridge0': up + member('en2', 'en3') }),
      { ends: 'unchanged', calls: ['ifconfig bridge0 up'] },
    ],
    [
      'restores only the preferences of a bridge',
      bridge,
      net({ 'if/bridge0': up + member('en2', 'en3') }),
      { ends: 'changed', calls: [insert, 'ifconfig bridge0 up'] },
    ],
    [
      'restores only the interface of a bridge',
      bridge,
      net({ preferences: '' }),
      { ends: 'changed', calls: ['create', 'addm en2', 'addm en3', 'up'].map((one) => `ifconfig bridge0 ${one}`) },
    ],
    [
      'restores only one member of a bridge',
      bridge,
      net({ preferences: '', 'if/bridge0': up + member('en20', 'en3') }),
      { ends: 'changed', calls: ['ifconfig bridge0 addm en2', 'ifconfig bridge0 up'] },
    ],
    [
      'starts a bridge that is down',
      bridge,
      net({ preferences: '', 'if/bridge0': down + member('en2', 'en3') }),
      { ends: 'unchanged', leaves: { '../if/bridge0': down.replace('<', '<UP,') + member('en2', 'en3') } },
    ],
    [
      'accepts a bridge with the single flag UP',
      bridge,
      net({ preferences: '', 'if/bridge0': `bridge0: flags=1<UP>\n${member('en2', 'en3')}` }),
      { ends: 'unchanged' },
    ],
    [
      'fails if the preferences do not change',
      bridge,
      net({ deaf: '-insert' }),
      { ends: 'plutil: the bridge is not in the network preferences' },
    ],
    [
      'fails if no bridge is created',
      bridge,
      net({ deaf: 'create' }),
      { ends: 'ifconfig: the bridge was not created' },
    ],
    [
      'fails if a member is not added',
      bridge,
      net({ deaf: 'addm' }),
      { ends: 'ifconfig: the bridge does not have the member en2' },
    ],
    ['fails if a bridge does not start', bridge, net({ deaf: 'up' }), { ends: 'ifconfig: the bridge is not up' }],
    [
      'removes a service',
      made,
      net({ 'net/list': 'Cable\nCable 2\n' }),
      { ends: 'changed', leaves: { '../net/list': 'Cable 2\n' } },
    ],
    [
      'removes a disabled service',
      made,
      net({ 'net/list': 'Cable 2\n*Cable\n' }),
      { ends: 'changed', leaves: { '../net/list': 'Cable 2\n' } },
    ],
    [
      'changes nothing without the service',
      made,
      net({ 'net/list': 'Cable 2\nMy Cable\n' }),
      { ends: 'unchanged', calls: [] },
    ],
    [
      'fails if a service stays',
      made,
      net({ 'net/list': 'Cable\n', deaf: '-removenetworkservice' }),
      { ends: 'networksetup: the network service is still there: Cable' },
    ],
    [
      'switches a service on',
      switched(true),
      {},
      { ends: 'changed', calls: ['networksetup -setnetworkserviceenabled Cable on'] },
    ],
    [
      'switches a service off',
      switched(false),
      net({ 'net/on.Cable': '' }),
      { ends: 'changed', calls: ['networksetup -setnetworkserviceenabled Cable off'] },
    ],
    ['leaves a service on', switched(true), net({ 'net/on.Cable': '' }), { ends: 'unchanged', calls: [] }],
    ['leaves a service off', switched(false), {}, { ends: 'unchanged', calls: [] }],
    [
      'fails if a service is not switched',
      switched(true),
      net({ deaf: '-setnetworkserviceenabled' }),
      { ends: 'networksetup: networksetup did not switch the service on: Cable' },
    ],
    [
      'restores an address',
      manual,
      net({ 'net/on.Cable': '', 'net/info': 'DHCP Configuration\n' }),
      { ends: 'changed', calls: ['networksetup -setmanual Cable 192.0.2.7 255.255.255.0'] },
    ],
    [
      'restores an address with its router',
      restore({
        manual: [{ service: 'Cable', device: 'en4', address: '192.0.2.7', prefixLength: 24, router: '192.0.2.1' }],
      }),
      net({ 'net/on.Cable': '' }),
      { ends: 'changed', calls: ['networksetup -setmanual Cable 192.0.2.7 255.255.255.0 192.0.2.1'] },
    ],
    [
      'fails if the address differs',
      manual,
      net({ 'net/on.Cable': '', 'net/info': 'DHCP Configuration\n', deaf: '-setmanual' }),
      { ends: shown },
    ],
    [
      'fails if the mask differs',
      manual,
      net({
        'net/on.Cable': '',
        'net/info': 'Manual Configuration\nIP address: 192.0.2.7\nSubnet mask: 255.255.255.0.0\n',
        deaf: '-setmanual',
      }),
      { ends: shown.replace('DHCP', 'Manual') },
    ],
    [
      'does not check the address of a service that is off',
      manual,
      net({ 'net/info': 'DHCP Configuration\n', deaf: '-setmanual' }),
      { ends: 'changed' },
    ],
    [
      'restores an order',
      ordered,
      net({ 'net/order': 'A|en0\nB|en1\n' }),
      { ends: 'changed', leaves: { '../net/order': 'B|en1\nA|en0\n' } },
    ],
    [
      'fails if the order stays',
      ordered,
      net({ 'net/order': 'A|en0\nB|en1\n', deaf: '-ordernetworkservices' }),
      { ends: 'networksetup: networksetup reported success, but the order did not change' },
    ],
    ['changes nothing without a baseline', restore({}), {}, { ends: 'unchanged', calls: [] }],
  ],
  common,
  reads,
);

const remove: ScriptCall = {
  name: 'remove-bridge',
  args: { bridge: 'bridge0', members: ['en2'], services: ['Cable'] },
};
const deleted = `PlistBuddy -c Delete :VirtualNetworkInterfaces:Bridge:bridge0 ${preferences}`;
const destroyed = ['ifconfig bridge0 deletem en2', 'ifconfig bridge0 destroy'];

itInEachState(
  'remove-bridge',
  [
    ['changes nothing without a bridge', remove, {}, { ends: 'unchanged', calls: [] }],
    [
      'disables only the service',
      remove,
      net({ 'net/on.Cable': '' }),
      { ends: 'changed', calls: ['networksetup -setnetworkserviceenabled Cable off'] },
    ],
    ['deletes only the preferences', remove, net({ preferences: '' }), { ends: 'changed', calls: [deleted] }],
    ['destroys only the interface', remove, net({ 'if/bridge0': up }), { ends: 'changed', calls: destroyed }],
    [
      'skips a service that is missing',
      remove,
      { ...net({ 'if/bridge0': up }), tools: { 'usr/sbin/networksetup': "printf '** Error: no such service\\n'" } },
      { ends: 'changed', calls: destroyed },
    ],
    [
      'reports a service that stays on after the other layers',
      remove,
      net({ 'net/on.Cable': '', preferences: '', 'if/bridge0': up, deaf: '-setnetworkserviceenabled' }),
      {
        ends: 'networksetup: Cable stayed on',
        calls: ['networksetup -setnetworkserviceenabled Cable off', deleted, ...destroyed],
      },
    ],
    [
      'fails if the preferences keep the bridge',
      remove,
      net({ preferences: '', deaf: 'Delete' }),
      { ends: 'plistbuddy: the bridge is still in the network preferences' },
    ],
    [
      'fails if the interface stays',
      remove,
      net({ 'if/bridge0': up, deaf: 'destroy' }),
      { ends: 'ifconfig: the bridge is still there' },
    ],
  ],
  common,
  reads,
);
