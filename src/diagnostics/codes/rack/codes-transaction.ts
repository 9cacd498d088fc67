import { meshwright } from '../../../model/text/command.ts';
import { prose } from '../../../model/text/prose.ts';
import type { CodeEntry } from '../../code-entry.ts';

/** Codes about network changes, which a node rolls back unless the run confirms them. */
export const transactionCodes = {
  'step/rolled-back': {
    summary: 'The node rolled back a network change.',
    cause:
      'After the change, meshwright could not reach the node over a new connection in time, so the node restored its previous network settings.',
    hint: prose`See which change broke the connection: ${meshwright('history')}. Reach the Mac over Ethernet or Wi-Fi, then run this again.`,
  },
  'step/unconfirmed': {
    summary: 'A network change could not be confirmed.',
    cause:
      'meshwright could not reach the node over a new connection, neither after the change nor after the time when the node should have rolled it back.',
    hint: prose`Wait a minute and check again: ${meshwright('status')}. If the node stays unreachable, check the Mac itself.`,
  },
  'step/rollback-pending': {
    summary: 'A node rejected a change because an earlier network change is not confirmed yet.',
    cause: 'A run ended after it changed the network, but before it confirmed that the node is still reachable.',
    hint: 'Run this again: meshwright first rolls back the earlier change, then observes the node.',
  },
} as const satisfies Readonly<Record<string, CodeEntry>>;
