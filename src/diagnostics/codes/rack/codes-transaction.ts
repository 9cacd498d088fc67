import { meshwright } from '../../../model/text/command.ts';
import { prose } from '../../../model/text/prose.ts';
import type { CodeEntry } from '../../code-entry.ts';

/** Codes about changes of the network, which a node takes back unless they are confirmed. */
export const transactionCodes = {
  'step/rolled-back': {
    summary: 'A network change was taken back by the node.',
    cause:
      'After the change the node could not be reached over a new connection in time, so that it put its network back to what it was before.',
    hint: prose`See what the change did to the way there: ${meshwright('history')}. Reach the Mac over its Ethernet or Wi-Fi, then run this again.`,
  },
  'step/unconfirmed': {
    summary: 'A network change could not be confirmed.',
    cause:
      'The node was not reached over a new connection, neither after the change nor after the time in which it takes the change back by itself.',
    hint: prose`Wait a minute and look again: ${meshwright('status')}. A node that stays away has a problem of its own: go and see it.`,
  },
  'step/rollback-pending': {
    summary: 'A node turned a change away: a network change of another run waits there for its confirmation.',
    cause: 'A run ended after it had changed the network and before it could confirm that the node is still reached.',
    hint: 'Run this again: it begins by taking that change back, and then looks anew.',
  },
} as const satisfies Readonly<Record<string, CodeEntry>>;
