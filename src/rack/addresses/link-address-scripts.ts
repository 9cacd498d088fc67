import type { ScriptArgs } from '../../model/node-script.ts';
import { leaveFunction, maskOf, networkSetupFunctions } from '../../node/network-setup.ts';
import { pathWord, tool } from '../../node/paths/node-paths.ts';
import { quote } from '../../node/quote.ts';

const backToDhcp = (service: string): string => `isdhcp() {
  mustnet -getinfo ${quote(service)}
  case $o in ('DHCP Configuration'*) ;; (*) return 1 ;; esac
}
isdhcp || {
  mustnet -setdhcp ${quote(service)}
  isdhcp || failed networksetup "networksetup took DHCP and shows something else: $o"
  y=1
}`;

/**
 * Puts a network service back to DHCP, as macOS has it by itself, and takes what the interface still holds off it. A
 * Mac that let nobody make a service has the address on the interface alone.
 *
 * @see networksetup(8): -setdhcp, -getinfo; ifconfig(8): -alias removes the network address
 */
export function clearLinkAddress({ service, device, addresses }: ScriptArgs['clear-link-address']): string {
  const ifconfig = `${pathWord(tool.ifconfig)} ${quote(device)}`;
  return `${networkSetupFunctions}
holds() {
  case $(${ifconfig} 2>/dev/null) in (*"inet $1 "*) ;; (*) return 1 ;; esac
}
off() {
  holds "$1" || return 0
  ${ifconfig} inet "$1" -alias 2>/dev/null
  ! holds "$1" || failed ifconfig "the interface keeps $1"
  y=1
}
y=
${service === undefined ? '' : backToDhcp(service)}
${addresses.map((address) => `off ${quote(address)}`).join('\n')}
[ -n "$y" ] || unchanged
changed`;
}

/** `isthere NAME`: whether a network service of that name exists; a service that is off stands behind an asterisk. */
const isThere = `isthere() {
  mustnet -listallnetworkservices
  case $N$o$N in (*"$N$1$N"* | *"$N*$1$N"*) ;; (*) return 1 ;; esac
}`;

/**
 * `haslost`: whether the interface has no address although there is a cable. An interface that is up and idle says
 * `status: inactive`, and macOS takes its address off by itself.
 */
const hasLost = (device: string, address: string): string => `haslost() {
  a=$(${pathWord(tool.ifconfig)} ${quote(device)} 2>/dev/null) || return 1
  case $a in (*'status: inactive'* | *'inet ${address} '*) return 1 ;; esac
}`;

/**
 * Gives a network service a fixed address that survives a reboot; makes the service first where its port has none, and
 * switches it on where it is off. Without a router: nothing is to be reached over a cable but its other end. What the
 * service already says and the interface has lost all the same, such as by a hand that typed `ifconfig`, macOS does not
 * give again by itself. Where macOS lets nobody set the service over SSH, the interface gets the address all the same,
 * and the keeper keeps it.
 *
 * @see networksetup(8): -createnetworkservice, -setmanual, -setnetworkserviceenabled, -getinfo; ifconfig(8): inet, netmask
 */
export function setLinkAddress(args: ScriptArgs['set-link-address']): string {
  const { hardwarePort, device, address, prefixLength, create, keeper } = args;
  const service = quote(args.service);
  const mask = maskOf(prefixLength);
  const missing = create
    ? `mustnet -createnetworkservice ${service} ${quote(hardwarePort)}
    isthere ${service} || failed networksetup 'the network service was not created'
    y=1`
    : `failed no-service "there is no network service "${service}`;
  return `${networkSetupFunctions}
${leaveFunction(keeper)}
${isThere}
${hasLost(device, address)}
isset() {
  mustnet -getinfo ${service}
  case $o in ('Manual Configuration'*"$N"'IP address: ${address}'"$N"'Subnet mask: ${mask}'*) ;; (*) return 1 ;; esac
}
byservice() {
  y=
  isthere ${service} || {
    ${missing}
  }
  mustnet -getnetworkserviceenabled ${service}
  case $o in (Disabled*)
    mustnet -setnetworkserviceenabled ${service} on
    mustnet -getnetworkserviceenabled ${service}
    case $o in (Disabled*) failed networksetup 'the network service stayed off' ;; esac
    y=1
  ;; esac
  if ! isset; then
    mustnet -setmanual ${service} ${address} ${mask}
    isset || failed networksetup "networksetup took the address and shows another one: $o"
    y=1
  fi
  printf %s "$y"
}
if r=$(byservice 2>&1); then
  y=$r
else
  leave "$r"
  y=
fi
if [ -z "$y" ] && haslost; then
  must ifconfig ${pathWord(tool.ifconfig)} ${quote(device)} inet ${address} netmask ${mask}
  haslost && failed ifconfig "the interface took the address and does not show it: $a"
  y=1
fi
[ -n "$y" ] || unchanged
changed`;
}
