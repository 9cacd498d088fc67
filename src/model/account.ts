/** The account of ranks and of `launch`, which apply makes. */
export const ranksAccount = '_meshrank';

/** The account of the gateway, which apply makes: another one, since a rank is not to read what clients ask. */
export const gatewayAccount = '_meshgate';

/** The accounts that are ours. */
export const ownAccounts: readonly string[] = [ranksAccount, gatewayAccount];

/**
 * The numbers of accounts of ours. macOS uses those below for its own, and those above 500 for people.
 *
 * @see docs/unverified.md: no account of macOS and of its own tools has a number from 450 to 499
 */
export const ownNumbers = { first: 450, last: 499 } as const;

/** One account of a Mac. What its record lacks is absent. */
export interface MacAccount {
  readonly name: string;
  readonly uid?: number;
  readonly gid?: number;
  readonly home?: string;
  readonly shell?: string;
  /** Made by macOS with the record; another one means another record. */
  readonly generatedUid?: string;
  /** Whether the account has a password. */
  readonly hasPassword: boolean;
  /** Names of the groups that it belongs to; empty where macOS could not say. */
  readonly groups: readonly string[];
}

/** What was written when an account of ours was made. */
interface MadeAccount {
  readonly name: string;
  readonly uid: number;
  readonly generatedUid: string;
}

/** The results of the tests that an account of ranks ran on one build of macOS. */
interface CheckedAccount {
  readonly name: string;
  readonly build: string;
  readonly uid: number;
  /** `home`, `rdma`, `files-` with a digest of their paths, and `gpu-` with the digest of the version of a runtime. */
  readonly passed: readonly string[];
  /** Tests of the same names that it failed when they last ran. */
  readonly failed: readonly string[];
}

/** The accounts of a Mac that count: those of people, and ours. */
export interface MacAccounts {
  readonly accounts: readonly MacAccount[];
  /** Accounts of ours that were made whole, whether or not they are still there. */
  readonly made: readonly MadeAccount[];
  /** Names of those that a run has begun to make and did not finish. */
  readonly begun: readonly string[];
  readonly checked: readonly CheckedAccount[];
}
