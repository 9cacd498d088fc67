import type { ScriptArgs, ScriptCall } from '../../../../src/model/node-script.ts';
import { common, deafTo, refusing, shown } from './network-tools.ts';
import { at, comparesTraces, tableOf } from './node-states.ts';

const preferences = '$R/Library/Preferences/SystemConfiguration/preferences.plist';
const member = (...names: readonly string[]): string => names.map((one) => `\tmember: ${one} flags=3\n`).join('');
const up = 'bridge0: flags=8863<UP,BROADCAST>\n';
const down = 'bridge0: flags=8822<BROADCAST>\n';

const restore = (part: Partial<ScriptArgs['restore-network']>): ScriptCall => ({
  name: 'restore-network',
  args: { made: [], switched: [], manual: [], order: [], ...part },
});
const bridgeIs = (...lines: readonly string[]) => at('../if/bridge0', lines.join(''));
const inPreferences = at('../preferences', '');
const isOn = at('../net/on.Cable', '');
const listed = (...names: readonly string[]) => at('../net/list', names.map((one) => `${one}\n`).join(''));
const turn = (on: string): string => `networksetup -setnetworkserviceenabled Cable ${on}`;
const ifconfig = (...words: readonly string[]) => words.map((one) => `ifconfig bridge0 ${one}`);
const bridge = restore({ bridge: { name: 'bridge0', interfaces: ['en2', 'en3'] } });
const insert = `plutil -insert VirtualNetworkInterfaces.Bridge.bridge0 -json {"Interfaces":["en2","en3"]} ${preferences}`;
const made = restore({ made: ['Cable'] });
const switched = (on: boolean): ScriptCall => restore({ switched: [{ service: 'Cable', on }] });
const address = { service: 'Cable', device: 'en4', address: '192.0.2.7', prefixLength: 24 };
const manual = restore({ manual: [address] });
const routed = restore({ manual: [{ ...address, router: '192.0.2.1' }] });
const setManual = 'networksetup -setmanual Cable 192.0.2.7 255.255.255.0';
const dhcp = at('../net/info', 'DHCP Configuration\n');
const longMask = at('../net/info', 'Manual Configuration\nIP address: 192.0.2.7\nSubnet mask: 255.255.255.0.0\n');
const ordered = restore({ order: ['B', 'A'] });
const services = at('../net/order', 'A|en0\nB|en1\n');

const whole = ifconfig('create', 'addm en2', 'addm en3', 'up');
const both = member('en2', 'en3');
const restores = tableOf('restore-network', common);
restores('restores every part of a bridge', bridge)
  .in()
  .ends('changed', [insert, ...whole]);
restores('changes nothing on a whole bridge', bridge)
  .in(inPreferences, bridgeIs(up, both))
  .ends('unchanged', ifconfig('up'));
restores('restores only the preferences of a bridge', bridge)
  .in(bridgeIs(up, both))
  .ends('changed', [insert, ...ifconfig('up')]);
restores('restores only the interface of a bridge', bridge).in(inPreferences).ends('changed', whole);
restores('restores only one member of a bridge', bridge)
  .in(inPreferences, bridgeIs(up, member('en20', 'en3')))
  .ends('changed', ifconfig('addm en2', 'up'));
restores('starts a bridge that is down', bridge)
  .in(inPreferences, bridgeIs(down, both))
  .ends('unchanged', bridgeIs(down.replace('<', '<UP,'), both));
restores('accepts a bridge with the single flag UP', bridge)
  .in(inPreferences, bridgeIs('bridge0: flags=1<UP>\n', both))
  .ends('unchanged');
restores('fails if the preferences do not change', bridge)
  .in(deafTo('-insert'))
  .ends('plutil: the bridge is not in the network preferences');
restores('fails if no bridge is created', bridge).in(deafTo('create')).ends('ifconfig: the bridge was not created');
restores('fails if a member is not added', bridge)
  .in(deafTo('addm'))
  .ends('ifconfig: the bridge does not have the member en2');
restores('fails if a bridge does not start', bridge).in(deafTo('up')).ends('ifconfig: the bridge is not up');
restores('removes a service', made).in(listed('Cable', 'Cable 2')).ends('changed', listed('Cable 2'));
restores('removes a disabled service', made).in(listed('Cable 2', '*Cable')).ends('changed', listed('Cable 2'));
restores('changes nothing without the service', made).in(listed('Cable 2', 'My Cable')).ends('unchanged', []);
restores('fails if a service stays', made)
  .in(listed('Cable'), deafTo('-removenetworkservice'))
  .ends('networksetup: the network service is still there: Cable');
restores('switches a service on', switched(true)).ends('changed', [turn('on')]);
restores('switches a service off', switched(false))
  .in(isOn)
  .ends('changed', [turn('off')]);
restores('leaves a service on', switched(true)).in(isOn).ends('unchanged', []);
restores('leaves a service off', switched(false)).ends('unchanged', []);
restores('fails if a service is not switched', switched(true))
  .in(deafTo('-setnetworkserviceenabled'))
  .ends('networksetup: networksetup did not switch the service on: Cable');
restores('restores an address', manual).in(isOn, dhcp).ends('changed', [setManual]);
restores('restores an address with its router', routed)
  .in(isOn)
  .ends('changed', [`${setManual} 192.0.2.1`]);
restores('fails if the address differs', manual).in(isOn, dhcp, deafTo('-setmanual')).ends(shown);
restores('fails if the mask differs', manual)
  .in(isOn, longMask, deafTo('-setmanual'))
  .ends(shown.replace('DHCP', 'Manual'));
restores('does not check the address of a service that is off', manual).in(dhcp, deafTo('-setmanual')).ends('changed');
restores('restores an order', ordered).in(services).ends('changed', at('../net/order', 'B|en1\nA|en0\n'));
restores('fails if the order stays', ordered)
  .in(services, deafTo('-ordernetworkservices'))
  .ends('networksetup: networksetup reported success, but the order did not change');
restores('changes nothing without a baseline', restore({})).ends('unchanged', []);

const removal = { bridge: 'bridge0', members: ['en2', 'en3'], services: ['Cable'] };
const remove: ScriptCall = { name: 'remove-bridge', args: removal };
const deleted = `PlistBuddy -c Delete :VirtualNetworkInterfaces:Bridge:bridge0 ${preferences}`;
const destroyed = ifconfig('deletem en2', 'deletem en3', 'destroy');

const right = 'Unable to access the System Configuration database';
const removes = tableOf('remove-bridge', common);
removes('changes nothing without a bridge', remove).ends('unchanged', []);
removes('removes every layer', remove)
  .in(isOn, inPreferences, bridgeIs(up))
  .ends('changed', [turn('off'), deleted, ...destroyed]);
removes('removes the other layers without the right to disable the service', remove)
  .in(isOn, inPreferences, bridgeIs(up), refusing('-set*', right))
  .ends(`no-full-disk-access: ${right}`, [turn('off'), deleted, ...destroyed]);
removes('disables only the service', remove)
  .in(isOn)
  .ends('changed', [turn('off')]);
removes('deletes only the preferences', remove).in(inPreferences).ends('changed', [deleted]);
removes('destroys only the interface', remove).in(bridgeIs(up)).ends('changed', destroyed);
removes('skips a service that is missing', remove)
  .in(bridgeIs(up), at('usr/sbin/networksetup', "printf '** Error: no such service\\n'"))
  .ends('changed', destroyed);
removes('reports a service that stays on after the other layers', remove)
  .in(isOn, inPreferences, bridgeIs(up), deafTo('-setnetworkserviceenabled'))
  .ends('networksetup: Cable stayed on', [turn('off'), deleted, ...destroyed]);
removes('fails if the preferences keep the bridge', remove)
  .in(inPreferences, deafTo('Delete'))
  .ends('plistbuddy: the bridge is still in the network preferences');
removes('fails if the interface stays', remove)
  .in(bridgeIs(up), deafTo('destroy'))
  .ends('ifconfig: the bridge is still there');

comparesTraces('bridge-states');
