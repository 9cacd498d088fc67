import { accountsOn } from '../../desired/layouts.ts';
import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { withCommands } from '../../diagnostics/prose-text.ts';
import { ownAccounts } from '../../model/account.ts';
import type { NodeName } from '../../model/node.ts';
import { nodeSubject } from '../../model/subject.ts';
import { named, type Prose, prose } from '../../model/text/prose.ts';
import { loginFact } from '../access/login-fact.ts';
import { defineRule, ruleCodes } from '../define-rule.ts';
import { read } from '../fact.ts';
import { type AccountState, accountState } from './account-state.ts';
import { accountsFact } from './fact.ts';

const codes = ruleCodes({
  'accounts/absent': {
    severity: 'error',
    summary: 'An account that the file names is not on this node.',
    cause: 'meshwright makes only accounts of its own; every other one is made by a person.',
    hint: 'Make it in System Settings > Users & Groups as a standard account and give it a group of its own, or name _meshrank or _meshgate in system.accounts: meshwright makes these.',
    role: { blocks: 'accounts' },
    facts: [],
  },
  'accounts/other': {
    severity: 'error',
    summary: 'The name of an account of meshwright belongs to another account.',
    cause:
      'A person or a program made it, macOS made it again, or an uninstall had to leave it. meshwright neither changes nor uses an account that it did not make.',
    hint: 'If nothing else needs it, delete it at the Mac, in a Terminal with Full Disk Access: sudo dscl . -delete /Users/NAME, then sudo dscl . -delete /Groups/NAME. Or name another account in system.accounts.',
    role: { blocks: 'accounts' },
    facts: [],
  },
  'accounts/can-become-root': {
    severity: 'error',
    summary: 'Ranks or the gateway would run as an account that can become root.',
    cause: 'An attacker who breaks a rank or the gateway would then be root on that Mac.',
    hint: 'Take it out of the administrators (System Settings > Users & Groups), or name another account in system.accounts.',
    role: { blocks: 'accounts' },
    facts: [],
  },
  'accounts/shared-group': {
    severity: 'error',
    summary: 'The account of ranks or the gateway shares its group with others.',
    cause: 'Its logs can be read by its group, and every account of a person is in the group staff.',
    hint: 'Give it a group of its own, at the Mac, in a Terminal with Full Disk Access: sudo dseditgroup -o create NAME, then sudo dscl . -create /Users/NAME PrimaryGroupID NUMBER. Or name another account in system.accounts.',
    role: { blocks: 'accounts' },
    facts: [],
  },
});

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
              codes['accounts/absent'],
              about(
                `There is no account ${account}.`,
                prose`Make ${account} in System Settings > Users & Groups of ${named(node)}, as a standard account, and give it a group of its own, or name ${ownAccounts.join(' or ')} in system.accounts: meshwright makes these.`,
              ),
            ),
          ];
    case 'other':
      return [
        diagnose(
          codes['accounts/other'],
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
          codes['accounts/can-become-root'],
          about(
            `${account} is an administrator of this Mac.`,
            prose`Take ${account} out of the administrators of ${named(node)} (System Settings > Users & Groups), or name another account in system.accounts.`,
          ),
        ),
      ];
    case 'login':
      return [
        diagnose(
          codes['accounts/can-become-root'],
          about(`ssh logs in as ${account}, which becomes root with sudo.`, 'Name another account in system.accounts.'),
        ),
      ];
    case 'shared-group':
      return [
        diagnose(
          codes['accounts/shared-group'],
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
export const accounts = defineRule(codes, ({ desired, nodes }) =>
  nodes.flatMap(({ name, facts }) => {
    const seen = read(facts, accountsFact);
    return seen.kind === 'unknown'
      ? []
      : accountsOn(desired, name).flatMap((account) =>
          accountFindings(name, account, accountState(account, seen.value, read(facts, loginFact))),
        );
  }),
);
