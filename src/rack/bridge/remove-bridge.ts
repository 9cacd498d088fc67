import type { ScriptArgs } from '../../model/node-script.ts';
import { leaveFunction, networkSetupFunctions } from '../../node/network-setup.ts';
import { pathWord, place, tool } from '../../node/paths/node-paths.ts';
import { quote } from '../../node/quote.ts';
import { standsExit } from '../network/transaction/rollback-script.ts';

/**
 * Removes the Thunderbolt Bridge in its three layers: the service is switched off, the bridge leaves the network
 * preferences (else configd makes it anew at the next boot or plug), and its interface is taken apart. Each layer is
 * looked at first and afterwards; what a refused service leaves undone is told only when the other two are gone, which
 * then stay so.
 *
 * @see knowledge of public recipes: switching the service off alone left the bridge up with all its members
 */
export function removeBridge({ bridge, members, services, keeper }: ScriptArgs['remove-bridge']): string {
  const key = quote(`:VirtualNetworkInterfaces:Bridge:${bridge}`);
  const buddy = (verb: string): string =>
    `${pathWord(tool.plistBuddy)} -c ${quote(`${verb} `)}${key} ${pathWord(place.networkPreferences)}`;
  const ifconfig = `${pathWord(tool.ifconfig)} ${quote(bridge)}`;
  return `${networkSetupFunctions}
${leaveFunction(keeper)}
y='' refused=''
off() {
  if r=$(
    exec 2>&1
    net -getnetworkserviceenabled "$1" || exit 0
    case $o in (Disabled*) exit 0 ;; esac
    mustnet -setnetworkserviceenabled "$1" off
    net -getnetworkserviceenabled "$1"
    case $o in (Disabled*) printf off ;; (*) failed networksetup "$1 stayed on" ;; esac
  ); then
    [ "$r" != off ] || y=1
  elif (leave "$r") 2>/dev/null; then
    :
  else
    y=1 refused=$r
  fi
}
${services.map((service) => `off ${quote(service)}`).join('\n')}
if ${buddy('Print')} >/dev/null 2>&1; then
  must plistbuddy ${buddy('Delete')}
  ${buddy('Print')} >/dev/null 2>&1 && failed plistbuddy 'the bridge is still in the network preferences'
  y=1
fi
if ${ifconfig} >/dev/null 2>&1; then
${members.map((member) => `  ${ifconfig} deletem ${quote(member)} >/dev/null 2>&1`).join('\n')}
  must ifconfig ${ifconfig} destroy
  ${ifconfig} >/dev/null 2>&1 && failed ifconfig 'the bridge is still there'
  y=1
fi
[ -z "$refused" ] || {
  printf '%s\\n' "$refused" >&2
  exit ${standsExit}
}
[ -n "$y" ] || unchanged
changed`;
}
