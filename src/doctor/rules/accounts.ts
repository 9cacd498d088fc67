import { namedAccounts } from '../../desired/run-as.ts';
import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { ownAccounts } from '../../model/account.ts';
import type { NodeName } from '../../model/node.ts';
import { type AccountState, accountState } from '../account-state.ts';
import type { Rule } from '../rule.ts';
import { nodeSubject } from '../subject.ts';

function judge(node: NodeName, account: string, state: AccountState): readonly Diagnostic[] {
  const subject = nodeSubject(node);
  switch (state) {
    case 'made':
    case 'begun':
      return [];
    case 'absent':
      return ownAccounts.includes(account)
        ? []
        : [diagnose('accounts/absent', { subject, detail: `There is no account ${account}.` })];
    case 'other':
      return [
        diagnose('accounts/other', {
          subject,
          detail: `The account ${account} is there, and it is not the one that meshwright made.`,
        }),
      ];
    case 'administrator':
      return [diagnose('accounts/can-become-root', { subject, detail: `${account} is an administrator of this Mac.` })];
    case 'shared-group':
      return [
        diagnose('accounts/shared-group', {
          subject,
          detail: `The primary group of ${account} is staff, as that of every account of a person.`,
        }),
      ];
  }
}

/** Accounts that ranks or the gateway are to run as, and cannot. */
export const accounts: Rule = ({ desired, nodes }) =>
  nodes.flatMap(({ name, facts }) => {
    const seen = facts.accounts;
    return seen.kind === 'unknown'
      ? []
      : namedAccounts(desired).flatMap((account) => judge(name, account, accountState(account, seen.value)));
  });
