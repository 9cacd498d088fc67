import type { ScriptArgs } from '../../model/node-script.ts';
import { networkSetupFunctions } from '../../node/network-setup.ts';
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
