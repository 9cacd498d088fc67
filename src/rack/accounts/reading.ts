import { type MacAccount, type MacAccounts, ownAccounts } from '../../model/account.ts';
import type { Known } from '../../model/known.ts';
import { isLikeOurs } from './fact.ts';

export type AccountState =
  | 'made'
  | 'absent'
  /** A run was interrupted while creating it. */
  | 'begun'
  /** Created by `apply` and kept by macOS during `uninstall`; `apply` uses it again. */
  | 'left'
  /** Has the name of our account, but `apply` did not create it. */
  | 'other'
  | 'administrator'
  /** ssh logs in as this account, which can become root with sudo. */
  | 'login'
  /** Its primary group has other members, who could read what it writes. */
  | 'shared-group';

/** The primary group that macOS gives to every personal account. */
const staff = 20;

/** Groups whose members can become root, or decide who can. */
const mighty = ['admin', 'wheel'];

function ownState(name: string, account: MacAccount | undefined, { made, begun }: MacAccounts): AccountState {
  if (begun.includes(name)) return 'begun';
  if (account === undefined) return 'absent';
  if (!isLikeOurs(account)) return 'other';
  const written = made.find((one) => one.name === name);
  if (written === undefined) return 'left';
  return account.uid === written.uid && account.generatedUid === written.generatedUid ? 'made' : 'other';
}

/** Returns an account's state on one Mac. @param login the account that ssh logs in as, if known */
export function accountState(name: string, seen: MacAccounts, login?: Known<string>): AccountState {
  const account = seen.accounts.find((one) => one.name === name);
  const state = ownAccounts.includes(name) ? ownState(name, account, seen) : account === undefined ? 'absent' : 'made';
  if ((state !== 'made' && state !== 'left') || account === undefined) return state;
  if (login?.kind === 'known' && login.value === name) return 'login';
  if (account.uid === 0 || account.groups.some((group) => mighty.includes(group))) return 'administrator';
  return account.gid === staff ? 'shared-group' : state;
}
