import { type MacAccount, type MacAccounts, ownAccounts } from '../../model/account.ts';
import type { Known } from '../../model/known.ts';
import { isLikeOurs } from './fact.ts';

/** What became of an account that ranks or the gateway are to run as. */
export type AccountState =
  | 'made'
  | 'absent'
  /** A run began to make it and was ended. */
  | 'begun'
  /** Made by `apply` and kept by macOS when `uninstall` took the rest away: `apply` takes it again. */
  | 'left'
  /** Of our name, and not what apply made. */
  | 'other'
  | 'administrator'
  /** ssh logs in as it, and it becomes root by sudo. */
  | 'login'
  /** Its primary group has other members: they could read what it writes. */
  | 'shared-group';

/** The group that macOS gives to every account of a person. */
const staff = 20;

/** Groups whose members become root, or decide who does. */
const mighty = ['admin', 'wheel'];

function ownState(name: string, account: MacAccount | undefined, { made, begun }: MacAccounts): AccountState {
  if (begun.includes(name)) return 'begun';
  if (account === undefined) return 'absent';
  if (!isLikeOurs(account)) return 'other';
  const written = made.find((one) => one.name === name);
  if (written === undefined) return 'left';
  return account.uid === written.uid && account.generatedUid === written.generatedUid ? 'made' : 'other';
}

/** The account of this name on one Mac. @param login who logs in there, as far as that was seen */
export function accountState(name: string, seen: MacAccounts, login?: Known<string>): AccountState {
  const account = seen.accounts.find((one) => one.name === name);
  const state = ownAccounts.includes(name) ? ownState(name, account, seen) : account === undefined ? 'absent' : 'made';
  if ((state !== 'made' && state !== 'left') || account === undefined) return state;
  if (login?.kind === 'known' && login.value === name) return 'login';
  if (account.uid === 0 || account.groups.some((group) => mighty.includes(group))) return 'administrator';
  return account.gid === staff ? 'shared-group' : state;
}
