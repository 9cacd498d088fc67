import type { FactsAccounts } from './documents.generated.ts';

/** The account for ranks and `launch`, created by apply. */
export const ranksAccount = '_meshrank';

/** The gateway's account, created by apply. It is separate so that ranks cannot read client requests. */
export const gatewayAccount = '_meshgate';

/** The account for model transfers, separate so that ranks and a transfer that a server takes over cannot mix. */
export const transfersAccount = '_meshmove';

export const ownAccounts: readonly string[] = [ranksAccount, gatewayAccount, transfersAccount];

/**
 * User IDs for our accounts. macOS uses lower IDs for itself, and IDs above 500 for people.
 *
 * @see docs/unverified.md: no account of macOS or its tools has an ID from 450 to 499
 */
export const ownNumbers = { first: 450, last: 499 } as const;

/** A Mac's relevant accounts: people's and ours, with records of how ours were created and tested. */
export type MacAccounts = FactsAccounts;

/** One account on a Mac; fields missing from the account's record are absent. */
export type MacAccount = MacAccounts['accounts'][number];
