import type { NetworkCall, ScriptArgs, ScriptCall } from '../../../../src/model/node-script.ts';
import { ours } from './mac-root.ts';
import { common, deafTo, net, ordered, refusing, shown } from './network-tools.ts';
import { at, comparesTraces, gone, launchd, tableOf } from './node-states.ts';

const clear = (service: string | undefined, ...addresses: readonly string[]): ScriptCall => ({
  name: 'clear-link-address',
  args: {
    ...(service && { service }),
    hardwarePort: 'Thunderbolt 2',
    device: 'en3',
    addresses,
  } as ScriptArgs['clear-link-address'],
});
const info = (text: string) => net({ 'net/info': text });
const [dhcp, byHand] = [info('DHCP Configuration\n'), info('Manual Configuration\n')];
const en3 = (...addresses: readonly string[]) => net({ 'if/en3': inet(...addresses) });
const inet = (...addresses: readonly string[]): string =>
  `en3: flags=1<UP>\n${addresses.map((one) => `\tinet ${one} netmask 0xfffffffc\n`).join('')}\tstatus: active\n`;
const alias = 'ifconfig en3 inet 10.77.0.1 -alias';

const cleared = tableOf('clear-link-address', common);
cleared('changes nothing if the service has DHCP and the interface no address', clear('Cable', '10.77.0.1'))
  .in(dhcp, en3('10.77.0.10'))
  .ends('unchanged', []);
cleared('sets only the service back', clear('Cable', '10.77.0.1'))
  .in(byHand, en3())
  .ends('changed', ['networksetup -setdhcp Cable']);
cleared('clears only the interface', clear('Cable', '10.77.0.5', '10.77.0.1'))
  .in(dhcp, en3('10.77.0.1'))
  .ends('changed', [alias]);
cleared('asks no service of an interface that has none', clear(undefined, '10.77.0.1'))
  .in(byHand, en3('10.77.0.1'))
  .ends('changed', [alias]);
cleared('changes nothing without the interface', clear(undefined, '10.77.0.1')).ends('unchanged', []);
cleared('fails if the service keeps its address', clear('Cable'))
  .in(byHand, deafTo('-setdhcp'))
  .ends('networksetup: networksetup reported success, but shows something other than DHCP: Manual Configuration');
cleared('fails if the interface keeps its address', clear(undefined, '10.77.0.1'))
  .in(en3('10.77.0.1'), deafTo('inet'))
  .ends('ifconfig: the interface keeps 10.77.0.1');

const link = { service: 'Cable', hardwarePort: 'Thunderbolt 2', device: 'en3', address: '10.77.0.1', prefixLength: 30 };
const create: ScriptCall = { name: 'set-link-address', args: { ...link, create: true } };
const set: ScriptCall = { name: 'set-link-address', args: { ...link, create: false } };
const right = 'Manual Configuration\nIP address: 10.77.0.1\nSubnet mask: 255.255.255.252\n';
const ready = { ...net({ 'net/list': 'Ethernet\nCable\n', 'net/on.Cable': '' }), ...info(right), ...en3('10.77.0.1') };
const others = net({ 'net/list': 'Cable 2\n' });
const manually = 'networksetup -setmanual Cable 10.77.0.1 255.255.255.252';
const direct = 'ifconfig en3 inet 10.77.0.1 netmask 255.255.255.252';

const odd: ScriptCall = { name: 'set-link-address', args: { ...link, service: "Ana's cable", create: true } };
const setup = 'Unable to access the System Configuration database';
const sets = tableOf('set-link-address', { ...common, ...ready });
sets('changes nothing if everything is right', set).ends('unchanged', []);
sets('creates a missing service', odd)
  .in(others)
  .ends('changed', ["networksetup -createnetworkservice Ana's cable Thunderbolt 2"]);
sets('refuses a missing service that it may not create', set)
  .in(others)
  .ends('no-service: there is no network service Cable', []);
sets('fails on an error that networksetup prints with exit code 0', set)
  .in(dhcp, refusing('-set*', '** Error: The parameters were not valid.'))
  .ends('networksetup: -setmanual: ** Error: The parameters were not valid.');
sets('names the right that networksetup lacks', set)
  .in(dhcp, refusing('-set*', setup))
  .ends(`no-full-disk-access: ${setup}`);
sets('fails if the service is not created', create)
  .in(others, deafTo('-createnetworkservice'))
  .ends('networksetup: the network service was not created');
sets('finds a service that is off, and fails if it stays off', set)
  .in(net({ 'net/list': '*Cable\n', 'net/on.Cable': null }), deafTo('-setnetworkserviceenabled'))
  .ends('networksetup: the network service stayed off', ['networksetup -setnetworkserviceenabled Cable on']);
sets('replaces a different mask', set)
  .in(info(right.replace('.252', '.0')))
  .ends('changed', [manually]);
sets('replaces a different address', set)
  .in(info(right.replace('0.1', '0.10')))
  .ends('changed', [manually]);
sets('replaces DHCP with the same address', set)
  .in(info(right.replace('Manual', 'DHCP')))
  .ends('changed', [manually]);
sets('fails if the address differs', set).in(dhcp, deafTo('-setmanual')).ends(shown);
sets('restores an address that the interface has lost', set).in(en3('10.77.0.10')).ends('changed', [direct]);
sets('leaves an interface without a cable', set)
  .in(at('../if/en3', inet().replace('active', 'inactive')))
  .ends('unchanged', []);
sets('leaves an interface that is missing', set).in(gone('../if/en3')).ends('unchanged', []);
sets('does not set the interface after the service', set).in(dhcp, en3()).ends('changed', [manually]);
sets('fails if the interface does not take the address', set)
  .in(en3(), deafTo('inet'))
  .ends(`ifconfig: ifconfig reported success, but the interface lacks the address: ${inet().split('\n')[0]}`);

const last = (...devices: readonly string[]): NetworkCall => ({ name: 'order-services', args: { last: devices } });
const orders = tableOf('order-services', { ...common, ...ordered });
orders('moves a service to the end', last('en3')).ends('changed', [
  'networksetup -ordernetworkservices Wi-Fi VPN Ethernet Cable',
]);
orders('changes nothing in the right order', last('en0')).ends('unchanged', []);
orders('changes nothing without the device', last('en30', 'e')).ends('unchanged', []);
orders('fails without any service', last('en3'))
  .in(net({ 'net/order': '' }))
  .ends('networksetup: networksetup lists no service');
orders('fails if the order stays', last('en3'))
  .in(deafTo('-ordernetworkservices'))
  .ends('networksetup: networksetup reported success, but the order did not change');

const label = 'io.exo.networksetup';
const plist = `Library/LaunchDaemons/${label}.plist`;
const kept = `${ours}/foreign/${label}.plist`;
const was = `${ours}/foreign/${label}`;
const stopDaemon = (isRemoved: boolean): ScriptCall => ({ name: 'stop-daemon', args: { label, remove: isRemoved } });
const loaded = net({ [`launchd/${label}`]: 'state = waiting\n' });
const off = net({ overrides: `\t"${label}" => disabled\n` });
const launchctl = (verb: string): string => `launchctl ${verb} system/${label}`;
const returnDaemon = (load: boolean): ScriptCall => ({ name: 'return-daemon', args: { label, load } });
const back = [launchctl('enable'), `launchctl bootstrap system $R/${plist}`];

const foreign = tableOf('a foreign network daemon', common);
foreign('is unloaded and disabled', stopDaemon(false))
  .in(loaded)
  .ends('changed', at(was, 'was=loaded\n'), [launchctl('bootout'), launchctl('disable')]);
foreign('is only unloaded if it is disabled', stopDaemon(false))
  .in(loaded, off)
  .ends('changed', [launchctl('bootout')]);
foreign('is only disabled if it is not loaded', stopDaemon(false)).ends('changed', at(was, 'was=\n'), [
  launchctl('disable'),
]);
foreign('is disabled in the words of an older macOS', stopDaemon(false))
  .in(net({ overrides: `\t"${label}" => true\n` }))
  .ends('unchanged', []);
foreign('fails if launchd does not disable it', stopDaemon(false))
  .in(at('bin/launchctl', `[ "$1" != disable ] || exit 0\n${launchd}`))
  .ends('launchctl: launchd does not show the daemon as disabled');
foreign('fails if its state is unknown', stopDaemon(false))
  .in(at('bin/launchctl', "printf 'Who knows\\n'; exit 1"))
  .ends('launchctl: Who knows');
foreign('keeps the first record of its state', stopDaemon(false))
  .in(at(was, 'was=loaded\n'), off)
  .ends('unchanged', at(was, 'was=loaded\n'));
foreign('keeps its file unless it is removed', stopDaemon(false))
  .in(at(plist, 'theirs'), off)
  .ends('unchanged', at(plist, 'theirs'), gone(kept));
foreign('loses its file to the kept ones', stopDaemon(true))
  .in(at(plist, 'theirs'), off)
  .ends('changed', gone(plist), at(kept, 'theirs'));
foreign('needs no file to be removed', stopDaemon(true)).in(off).ends('unchanged');
foreign('gets its file back and is not loaded', returnDaemon(false))
  .in(at(kept, 'theirs'))
  .ends('changed', at(plist, 'theirs'), gone(kept), []);
foreign('keeps a newer file', returnDaemon(false))
  .in(at(kept, 'theirs'), at(plist, 'newer'))
  .ends('unchanged', at(plist, 'newer'), at(kept, 'theirs'));
foreign('is loaded on request', returnDaemon(true)).in(at(plist, 'theirs')).ends('changed', back);
foreign('is not loaded twice', returnDaemon(true)).in(at(plist, 'theirs'), loaded).ends('unchanged', []);
foreign('is not loaded without a file', returnDaemon(true)).ends('unchanged', []);

comparesTraces('address-states');
