import { accountsOn } from '../../desired/layouts.ts';
import { withCommands } from '../../diagnostics/prose-text.ts';
import { ownAccounts } from '../../model/account.ts';
import type { NodeName } from '../../model/node.ts';
import { nodesSubject } from '../../model/subject.ts';
import { named, type Prose, prose } from '../../model/text/prose.ts';
import { loginFact } from '../access/fact.ts';
import { defineNodeRule, defineRule, type Finding, type RuleCodes } from '../define-rule.ts';
import { read, readValue } from '../fact.ts';
import { type AccountState, accountState } from './account-state.ts';
import { accountsFact } from './fact.ts';

/** Ranks and gateways that the file lets run as the ssh user, who can become root. */
export const runsAsLogin = defineRule(
  {
    'accounts/login': {
      severity: 'warning',
      summary: 'Ranks or the gateway run as the ssh user.',
      cause:
        'The file sets login in system.accounts. The sudo rule from enroll lets the ssh user become root, so an attacker who takes over a rank or the gateway is root on that Mac.',
      hint: 'Remove login from system.accounts: apply then creates accounts that cannot become root.',
    },
  },
  ({ desired: { system, placements } }) => {
    const running = placements.filter(({ state }) => state === 'serving');
    const asLogin = (['ranks', 'gateway'] as const).filter((role) => system.accounts[role] === undefined);
    return asLogin.flatMap((role) => {
      const own = role === 'ranks' ? running : running.filter(({ publication }) => publication !== undefined);
      if (own.length === 0) return [];
      const names = own.map(({ name }) => name).join(', ');
      const gateways = own.length > 1 ? `The gateways of ${names} run` : `The gateway of ${names} runs`;
      const what = role === 'ranks' ? `The ranks of ${names} run` : gateways;
      const nodes = own.flatMap((one) => (role === 'ranks' ? one.nodes : one.nodes.slice(0, 1)));
      return {
        code: 'accounts/login',
        subject: nodesSubject([...new Set(nodes)].toSorted()),
        detail: `${what} as the ssh user, who can become root (system.accounts.${role}: login).`,
        hint: `Remove \`${role}: login\` from system.accounts: apply then creates an account that cannot become root.`,
      };
    });
  },
);

const codes = {
  'accounts/absent': {
    summary: 'An account that the file names does not exist on this node.',
    cause: 'meshwright creates only its own accounts. A person has to create any other account.',
    hint: 'Create it in System Settings > Users & Groups as a standard account with its own group. Or name _meshrank or _meshgate in system.accounts, which meshwright creates.',
    role: { blocks: 'accounts' },
  },
  'accounts/other': {
    summary: 'An account that meshwright did not create has the name of a meshwright account.',
    cause:
      'A person or a program created it, macOS created it again, or an uninstall had to leave it. meshwright neither changes nor uses an account that it did not create.',
    hint: 'If nothing else needs the account, delete it on the Mac, in a Terminal with Full Disk Access: `sudo dscl . -delete /Users/NAME`, then `sudo dscl . -delete /Groups/NAME`. Or name another account in system.accounts.',
    role: { blocks: 'accounts' },
  },
  'accounts/can-become-root': {
    summary: 'Ranks or the gateway would run as an account that can become root.',
    cause: 'An attacker who takes over a rank or the gateway would then be root on that Mac.',
    hint: 'Remove its administrator rights (System Settings > Users & Groups), or name another account in system.accounts.',
    role: { blocks: 'accounts' },
  },
  'accounts/shared-group': {
    summary: 'The account for the ranks or the gateway shares its group with other accounts.',
    cause: 'Members of its group can read its logs, and every personal account is in the group staff.',
    hint: 'Give the account its own group on the Mac, in a Terminal with Full Disk Access: `sudo dseditgroup -o create NAME`, then `sudo dscl . -create /Users/NAME PrimaryGroupID NUMBER`. Or name another account in system.accounts.',
    role: { blocks: 'accounts' },
  },
} satisfies RuleCodes;

/** Explains why nothing can run as this account on a node; undefined if something can, or if `apply` creates it. */
export function accountFinding(
  node: NodeName,
  account: string,
  state: AccountState,
): (Finding<keyof typeof codes> & { readonly hint: Prose }) | undefined {
  switch (state) {
    case 'made':
    case 'begun':
    case 'left':
      return undefined;
    case 'absent':
      return ownAccounts.includes(account)
        ? undefined
        : {
            code: 'accounts/absent',
            detail: `There is no account ${account}.`,
            hint: prose`Create ${account} in System Settings > Users & Groups on ${named(node)}, as a standard account with its own group. Or name ${ownAccounts.join(' or ')} in system.accounts, which meshwright creates.`,
          };
    case 'other':
      return {
        code: 'accounts/other',
        detail: `The account ${account} exists, but meshwright did not create it.`,
        hint: withCommands(
          prose`Name another account in system.accounts. Or, if nothing else needs this account, delete it on ${named(node)}, in a Terminal with Full Disk Access`,
          [`sudo dscl . -delete /Users/${account}`, `sudo dscl . -delete /Groups/${account}`],
        ),
      };
    case 'administrator':
      return {
        code: 'accounts/can-become-root',
        detail: `${account} is an administrator on this Mac.`,
        hint: prose`Remove the administrator rights of ${account} on ${named(node)} (System Settings > Users & Groups), or name another account in system.accounts.`,
      };
    case 'login':
      return {
        code: 'accounts/can-become-root',
        detail: `ssh logs in as ${account}, which can become root with sudo.`,
        hint: 'Name another account in system.accounts.',
      };
    case 'shared-group':
      return {
        code: 'accounts/shared-group',
        detail: `The primary group of ${account} is staff, which every personal account belongs to.`,
        hint: withCommands(
          prose`Name another account in system.accounts. Or give ${account} its own group on ${named(node)}, in a Terminal with Full Disk Access, where NUMBER is the number of that group`,
          [`sudo dseditgroup -o create ${account}`, `sudo dscl . -create /Users/${account} PrimaryGroupID NUMBER`],
        ),
      };
  }
}

/** Accounts that should run ranks or the gateway, but cannot. */
export const accounts = defineNodeRule(codes, ({ name, facts }, { desired }) => {
  const seen = readValue(facts, accountsFact);
  return accountsOn(desired, name).flatMap(
    (account) => (seen && accountFinding(name, account, accountState(account, seen, read(facts, loginFact)))) ?? [],
  );
});
