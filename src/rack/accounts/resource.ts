import { accountsOn } from '../../desired/layouts.ts';
import { isHandsWork } from '../../diagnostics/diagnostic.ts';
import { ownAccounts } from '../../model/account.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import { mapKnown } from '../../model/known.ts';
import { type Addressed, addressed } from '../../model/subject.ts';
import { loginFact } from '../access/fact.ts';
import { scriptStep } from '../build-step.ts';
import { compared } from '../compare-values.ts';
import { read, readValue } from '../fact.ts';
import { type Blocker, blocker, type ObservedTarget, type Property, perTarget, type Resource } from '../resource.ts';
import { accountsFact } from './fact.ts';
import { accountState } from './reading.ts';
import { accountFinding, accounts as accountsRule } from './rule.ts';

const words = {
  made: 'created',
  absent: 'missing',
  begun: 'half created',
  left: 'left by an earlier installation',
  other: 'a different account',
  administrator: 'an administrator',
  login: 'the ssh user',
  'shared-group': 'in a shared group',
} as const;

const accountAddress = (name: string): Addressed => addressed({ kind: 'accounts', name });

function propertiesOf(fleet: DesiredFleet, { desired: { name: node }, facts }: ObservedTarget): readonly Property[] {
  return accountsOn(fleet, node).map((account) => {
    const observed = mapKnown(read(facts, accountsFact), (seen) => accountState(account, seen, read(facts, loginFact)));
    return {
      node,
      ...accountAddress(account),
      ...compared('made', observed, (state) => words[state]),
      reason: 'system.accounts',
    };
  });
}

/** An unusable account blocks only what needs that account. */
function blockersOf(fleet: DesiredFleet, { desired: { name: node }, facts }: ObservedTarget): readonly Blocker[] {
  const seen = readValue(facts, accountsFact);
  if (seen === undefined) return [];
  return accountsOn(fleet, node).flatMap((account): readonly Blocker[] => {
    const finding = accountFinding(node, account, accountState(account, seen, read(facts, loginFact)));
    if (finding === undefined) return [];
    const { code, hint: action } = finding;
    const property = accountAddress(account);
    const isHands = isHandsWork(accountsRule.codes[code]);
    return [{ ...blocker({ code, node, resource: 'accounts', property, action }), isHands }];
  });
}

/** The accounts for ranks, gateway and transfers: meshwright creates its own accounts; all others have to exist. */
export const accounts: Resource = {
  kind: 'accounts',
  after: ['identity', 'sudo'],
  ...perTarget(propertiesOf, (_fleet, _target, makes) =>
    makes.flatMap((made) => {
      const { name = '' } = made.about;
      if (!ownAccounts.includes(name)) return [];
      const call = { name: 'make-account', args: { name } } as const;
      return [scriptStep({ name: `${made.address}/make`, call, makes: [made], deadlineMs: 60_000 })];
    }),
  ),
  blockers: (view) => {
    const own = view.targets.flatMap((target) => blockersOf(view.desired, target));
    const isOwn = (one: Blocker): boolean => own.some(({ node, code }) => node === one.node && code === one.code);
    return [...own, ...view.findingBlockers('accounts').filter((one) => !isOwn(one))];
  },
};
