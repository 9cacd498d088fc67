import type { FactsAccounts } from './documents.generated.ts';

/** The account of ranks and `launch`, created by apply. */
export const ranksAccount = '_meshrank';

/** The gateway's account, created by apply; separate, so that ranks cannot read client requests. */
export const gatewayAccount = '_meshgate';

export const ownAccounts: readonly string[] = [ranksAccount, gatewayAccount];

/**
 * User ids of our accounts. macOS uses lower ones for itself, and those above 500 for people.
 *
 * @see docs/unverified.md: no account of macOS and of its own tools has a number from 450 to 499
 */
export const ownNumbers = { first: 450, last: 499 } as const;

/** A Mac's relevant accounts: those of people, and ours, with the records of how ours were created and tested. */
export type MacAccounts = FactsAccounts;

/** One account of a Mac; fields missing in its record are absent. */
export type MacAccount = MacAccounts['accounts'][number];
