import { accountsOn } from '../../desired/layouts.ts';
import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { withCommands } from '../../diagnostics/prose-text.ts';
import { ownAccounts } from '../../model/account.ts';
import type { NodeName } from '../../model/node.ts';
import { nodeSubject } from '../../model/subject.ts';
import { named, type Prose, prose } from '../../model/text/prose.ts';
import { loginFact } from '../access/login-fact.ts';
import { read } from '../fact.ts';
import type { Rule } from '../rule.ts';
import { type AccountState, accountState } from './account-state.ts';
import { accountsFact } from './fact.ts';

/** Why nothing can run as this account on a node; empty where it can, and where `apply` makes the account. */
export function accountFindings(node: NodeName, account: string, state: AccountState): readonly Diagnostic[] {
  const about = (detail: string, hint: Prose) => ({ subject: nodeSubject(node), detail, hint });
  switch (state) {
    case 'made':
    case 'begun':
    case 'left':
      return [];
    case 'absent':
      return ownAccounts.includes(account)
        ? []
        : [
            diagnose(
              'accounts/absent',
              about(
                `There is no account ${account}.`,
                prose`Make ${account} in System Settings > Users & Groups of ${named(node)}, as a standard account, and give it a group of its own, or name ${ownAccounts.join(' or ')} in system.accounts: meshwright makes these.`,
              ),
            ),
          ];
    case 'other':
      return [
        diagnose(
          'accounts/other',
          about(
            `The account ${account} is there, and it is not the one that meshwright made.`,
            withCommands(
              prose`Name another account in system.accounts. Or, if nothing else needs this one, delete it on ${named(node)}, in a Terminal with Full Disk Access`,
              [`sudo dscl . -delete /Users/${account}`, `sudo dscl . -delete /Groups/${account}`],
            ),
          ),
        ),
      ];
    case 'administrator':
      return [
        diagnose(
          'accounts/can-become-root',
          about(
            `${account} is an administrator of this Mac.`,
            prose`Take ${account} out of the administrators of ${named(node)} (System Settings > Users & Groups), or name another account in system.accounts.`,
          ),
        ),
      ];
    case 'login':
      return [
        diagnose(
          'accounts/can-become-root',
          about(`ssh logs in as ${account}, which becomes root with sudo.`, 'Name another account in system.accounts.'),
        ),
      ];
    case 'shared-group':
      return [
        diagnose(
          'accounts/shared-group',
          about(
            `The primary group of ${account} is staff, as that of every account of a person.`,
            withCommands(
              prose`Name another account in system.accounts. Or give ${account} a group of its own on ${named(node)}, in a Terminal with Full Disk Access, with the number of that group for NUMBER`,
              [`sudo dseditgroup -o create ${account}`, `sudo dscl . -create /Users/${account} PrimaryGroupID NUMBER`],
            ),
          ),
        ),
      ];
  }
}

/** Accounts that ranks or the gateway are to run as, and cannot. */
export const accounts: Rule = ({ desired, nodes }) =>
  nodes.flatMap(({ name, facts }) => {
    const seen = read(facts, accountsFact);
    return seen.kind === 'unknown'
      ? []
      : accountsOn(desired, name).flatMap((account) =>
          accountFindings(name, account, accountState(account, seen.value, read(facts, loginFact))),
        );
  });
