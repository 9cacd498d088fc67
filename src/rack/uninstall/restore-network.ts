import type { ScriptArgs } from '../../model/node-script.ts';
import { maskOf, networkSetupFunctions } from '../../node/network-setup.ts';
import { pathWord, place, tool } from '../../node/paths/node-paths.ts';
import { quote } from '../../node/quote.ts';

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
  ${ifconfig} >/dev/null 2>&1 || failed ifconfig 'the bridge was not created'
  y=1
}
hasmember() {
  case $(${ifconfig})$N in (*"member: $b "* | *"member: $b$N"*) ;; (*) return 1 ;; esac
}
for b in ${interfaces.map(quote).join(' ')}; do
  hasmember && continue
  must ifconfig ${ifconfig} addm "$b"
  hasmember || failed ifconfig "the bridge does not have the member $b"
  y=1
done
must ifconfig ${ifconfig} up
case $(${ifconfig}) in (*'<UP,'* | *'<UP>'*) ;; (*) failed ifconfig 'the bridge is not up' ;; esac`;
}

const removalLines = (service: string): string => `isthere() {
  mustnet -listallnetworkservices
  case $N$o$N in (*"$N"${quote(service)}"$N"* | *"$N"'*'${quote(service)}"$N"*) ;; (*) return 1 ;; esac
}
if isthere; then
  mustnet -removenetworkservice ${quote(service)}
  ! isthere || failed networksetup "the network service is still there: "${quote(service)}
  y=1
fi`;

const switchLines = ({ service, on }: Restoration['switched'][number]): string => `isset() {
  mustnet -getnetworkserviceenabled ${quote(service)}
  case $o in (${on ? 'Enabled' : 'Disabled'}*) ;; (*) return 1 ;; esac
}
isset || {
  mustnet -setnetworkserviceenabled ${quote(service)} ${on ? 'on' : 'off'}
  isset || failed networksetup "networksetup did not switch the service ${on ? 'on' : 'off'}: "${quote(service)}
  y=1
}`;

/** What -getinfo prints about a service that is off is not published, so such a service is not checked. */
const addressLines = ({ service, address, prefixLength, router }: Restoration['manual'][number]): string => {
  const words = [service, address, maskOf(prefixLength), ...(router === undefined ? [] : [router])];
  return `mustnet -setmanual ${words.map(quote).join(' ')}
mustnet -getnetworkserviceenabled ${quote(service)}
case $o in (Disabled*) ;; (*) mustnet -getinfo ${quote(service)} ;; esac
case $o$N in (Disabled* | 'Manual Configuration'*"$N"'IP address: ${address}'"$N"'Subnet mask: ${maskOf(prefixLength)}'"$N"*) ;; (*)
  failed networksetup "networksetup took the address and shows another one: $o"
;; esac
y=1`;
};

const orderLines = (order: Restoration['order']): string => `mustnet -ordernetworkservices ${order.map(quote).join(' ')}
mustnet -listnetworkserviceorder
o=$(printf '%s\\n' "$o" | ${pathWord(tool.awk)} 'sub(/^\\([*0-9]+\\) /, "")')
[ "$o" = ${quote(order.join('\n'))} ] || failed networksetup 'networksetup took the order and shows another one'
y=1`;

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
    ...(order.length === 0 ? [] : [orderLines(order)]),
    `[ -n "$y" ] || unchanged
changed`,
  ].join('\n');
}
