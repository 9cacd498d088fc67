import type { ScriptArgs } from '../../model/node-script.ts';
import { pathWord, place, tool } from '../node-paths.ts';
import { quote } from '../quote.ts';
import { maskOf } from './mask.ts';
import { networkSetupFunctions } from './network-setup.ts';

type Restoration = ScriptArgs['restore-network'];

/** @see PlistBuddy(8): Print; plutil(1): -insert keypath -json value; ifconfig(8) of macOS: create, addm, up */
function bridgeLines({ name, interfaces, auto }: NonNullable<Restoration['bridge']>): string {
  const ifconfig = `${pathWord(tool.ifconfig)} ${quote(name)}`;
  const plutil = pathWord(tool.plutil);
  const preferences = pathWord(place.networkPreferences);
  const at = quote(`VirtualNetworkInterfaces.Bridge.${name}`);
  const options = auto === undefined ? {} : { Options: { __AUTO__: auto } };
  const json = quote(JSON.stringify({ Interfaces: interfaces, ...options }));
  const isKept = `${pathWord(tool.plistBuddy)} -c ${quote(`Print :VirtualNetworkInterfaces:Bridge:${name}`)} ${preferences} >/dev/null 2>&1`;
  return `if ! ${isKept}; then
  must plutil ${plutil} -insert ${at} -json ${json} ${preferences}
  ${isKept} || failed plutil 'the bridge is not in the network preferences'
  y=1
fi
${ifconfig} >/dev/null 2>&1 || {
  must ifconfig ${ifconfig} create
  y=1
}
for m in ${interfaces.map(quote).join(' ')}; do
  case $(${ifconfig})$N in (*"member: $m "* | *"member: $m$N"*) continue ;; esac
  must ifconfig ${ifconfig} addm "$m"
  y=1
done
must ifconfig ${ifconfig} up`;
}

const removalLines = (service: string): string => `mustnet -listallnetworkservices
case $N$o$N in (*"$N"${quote(service)}"$N"* | *"$N"'*'${quote(service)}"$N"*)
  mustnet -removenetworkservice ${quote(service)}
  y=1
;; esac`;

const switchLines = ({ service, on }: Restoration['switched'][number]): string =>
  `mustnet -getnetworkserviceenabled ${quote(service)}
case $o in (${on ? 'Enabled' : 'Disabled'}*) ;; (*)
  mustnet -setnetworkserviceenabled ${quote(service)} ${on ? 'on' : 'off'}
  y=1
;; esac`;

const addressLines = ({ service, address, prefixLength, router }: Restoration['manual'][number]): string => {
  const words = [service, address, maskOf(prefixLength), ...(router === undefined ? [] : [router])];
  return `mustnet -setmanual ${words.map(quote).join(' ')}\ny=1`;
};

/**
 * Puts the network back as the baseline has it, as far as apply changes it: the bridge, the services that were made,
 * switched or readdressed, and the order of all.
 *
 * @see networksetup(8): -removenetworkservice, -setnetworkserviceenabled, -setmanual, -ordernetworkservices
 */
export function restoreNetwork({ bridge, made, switched, manual, order }: Restoration): string {
  return [
    networkSetupFunctions,
    `y=''`,
    ...(bridge === undefined ? [] : [bridgeLines(bridge)]),
    ...made.map(removalLines),
    ...manual.map(addressLines),
    ...switched.map(switchLines),
    ...(order.length === 0 ? [] : [`mustnet -ordernetworkservices ${order.map(quote).join(' ')}\ny=1`]),
    `[ -n "$y" ] || unchanged
changed`,
  ].join('\n');
}
