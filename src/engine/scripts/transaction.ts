import {
  changeNetwork,
  confirmChange,
  type TransactionNote,
  type TransactionRequest,
} from '../../rack/network/transaction/transaction-script.ts';
import { leaseHeartbeat } from './lease.ts';
import { scriptBody } from './registry.ts';

/** The first half of a transaction: changes the network and makes the node wait for {@link confirmBody}. */
export const transactionBody = (request: TransactionRequest): string =>
  changeNetwork(request, scriptBody(request.call));

/** The second half: renews the lease and confirms the change. */
export const confirmBody = (about: TransactionNote): string => `cd "$b/lease" || exit 1
${leaseHeartbeat}
${confirmChange(about)}`;
