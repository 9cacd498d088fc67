import type { ScriptArgs } from '../../model/node-script.ts';
import { quote } from '../quote.ts';
import { networkSetupFunctions } from './network-setup.ts';

/** Puts a network service back to DHCP, as macOS has it by itself. */
export const clearLinkAddress = ({ service }: ScriptArgs['clear-link-address']): string => `${networkSetupFunctions}
isdhcp() {
  mustnet -getinfo ${quote(service)}
  case $o in ('DHCP Configuration'*) ;; (*) return 1 ;; esac
}
isdhcp && unchanged
mustnet -setdhcp ${quote(service)}
isdhcp || failed networksetup "networksetup took DHCP and shows something else: $o"
changed`;
