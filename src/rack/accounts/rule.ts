import { accountsOn, downloadsOn } from '../../desired/layouts.ts';
import { withCommands } from '../../diagnostics/prose-text.ts';
import { ownAccounts } from '../../model/account.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import type { NodeName } from '../../model/node.ts';
import { nodesSubject } from '../../model/subject.ts';
import { named, type Prose, prose } from '../../model/text/prose.ts';
import { loginFact } from '../access/fact.ts';
import { defineNodeRule, defineRule, type Finding, type RuleCodes } from '../define-rule.ts';
import { read, readValue } from '../fact.ts';
import { accountsFact } from './fact.ts';
import { type AccountState, accountState } from './reading.ts';

/** Ranks, gateways and downloads that the file lets run as the ssh user, who can become root, or as root. */
export const runsAsLogin = defineRule(
  {
    'accounts/login': {
      severity: 'warning',
      summary: 'Ranks, the gateway or model downloads run as an account that can become root.',
      cause:
        'The file sets login in system.accounts. The sudo rule from enroll lets the ssh user become root, and downloads then run as root. So an attacker who takes over a rank, the gateway or a download is root on that Mac.',
      hint: 'Remove login from system.accounts: apply then creates accounts that cannot become root.',
    },
  },
  ({ desired }) => {
    const { system, placements } = desired;
    const running = placements.filter(({ state }) => state === 'serving');
    const asLogin = (['ranks', 'gateway'] as const).filter((role) => system.accounts[role] === undefined);
    const ofPrograms = asLogin.flatMap((role): readonly Finding<'accounts/login'>[] => {
      const own = role === 'ranks' ? running : running.filter(({ publication }) => publication !== undefined);
      if (own.length === 0) return [];
      const names = own.map(({ name }) => name).join(', ');
      const gateways = own.length > 1 ? `The gateways of ${names} run` : `The gateway of ${names} runs`;
      const what = role === 'ranks' ? `The ranks of ${names} run` : gateways;
      const nodes = own.flatMap((one) => (role === 'ranks' ? one.nodes : one.nodes.slice(0, 1)));
      const subject = nodesSubject([...new Set(nodes)].toSorted());
      const detail = `${what} as the ssh user, who can become root (system.accounts.${role}: login).`;
      return [{ code: 'accounts/login', subject, detail, hint: removalHint(role) }];
    });
    return [...ofPrograms, ...downloadsAsRoot(desired)];
  },
);

const removalHint = (role: string): string =>
  `Remove \`${role}: login\` from system.accounts: apply then creates an account that cannot become root.`;

function downloadsAsRoot(fleet: DesiredFleet): readonly Finding<'accounts/login'>[] {
  const nodes = fleet.nodes.map(({ name }) => name).filter((node) => downloadsOn(fleet, node).length > 0);
  if (fleet.system.accounts.transfers !== undefined || nodes.length === 0) return [];
  const names = [...new Set(nodes.flatMap((node) => downloadsOn(fleet, node)))].toSorted().join(', ');
  return [
    {
      code: 'accounts/login',
      subject: nodesSubject(nodes),
      detail: `Downloads of ${names} run as root (system.accounts.transfers: login).`,
      hint: removalHint('transfers'),
    },
  ];
}

const codes = {
  'accounts/absent': {
    summary: 'An account that the file names does not exist on this node.',
    cause: 'meshwright creates only its own accounts. A person has to create any other account.',
    hint: 'Create it in System Settings > Users & Groups as a standard account with its own group. Or remove its key from system.accounts: apply then creates an account.',
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
    summary: 'Ranks, the gateway or model transfers would run as an account that can become root.',
    cause: 'An attacker who takes over a rank, the gateway or a transfer would then be root on that Mac.',
    hint: 'Remove its administrator rights (System Settings > Users & Groups), or name another account in system.accounts.',
    role: { blocks: 'accounts' },
  },
  'accounts/shared-group': {
    summary: 'An account that the file names shares its group with other accounts.',
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
            hint: prose`Create ${account} in System Settings > Users & Groups on ${named(node)}, as a standard account with its own group. Or remove its key from system.accounts: apply then creates an account.`,
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

export const accounts = defineNodeRule(codes, ({ name, facts }, { desired }) => {
  const seen = readValue(facts, accountsFact);
  return accountsOn(desired, name).flatMap(
    (account) => (seen && accountFinding(name, account, accountState(account, seen, read(facts, loginFact)))) ?? [],
  );
});
