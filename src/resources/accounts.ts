import { namedAccounts } from '../desired/run-as.ts';
import { accountState } from '../doctor/account-state.ts';
import { ownAccounts } from '../model/account.ts';
import type { DesiredFleet } from '../model/desired.ts';
import { scriptStep } from './build-step.ts';
import { changedProperties } from './change.ts';
import { findingBlockers } from './finding-blockers.ts';
import type { ObservedTarget, Property, Resource } from './resource.ts';
import { knownWords, mapKnown } from './seen-fact.ts';

const words = {
  made: 'created',
  absent: 'missing',
  begun: 'half created',
  other: 'a different account',
  administrator: 'an administrator',
  login: 'the ssh user',
  'shared-group': 'in a shared group',
} as const;

function propertiesOf(fleet: DesiredFleet, { desired: { name: node }, facts }: ObservedTarget): readonly Property[] {
  return namedAccounts(fleet).map((account) => {
    const observed = mapKnown(facts.accounts, (seen) => accountState(account, seen, facts.login));
    return {
      node,
      address: `accounts/${account}`,
      desired: 'made',
      observed,
      from: knownWords(observed, (state) => words[state]),
      to: words.made,
      reason: 'system.accounts',
    };
  });
}

/** The accounts that ranks and the gateway run as: ours are made, others have to be there. */
export const accounts: Resource = {
  kind: 'accounts',
  after: ['identity', 'sudo'],
  properties: ({ desired, targets }) => targets.flatMap((target) => propertiesOf(desired, target)),
  steps: (changes, { desired, targets }) => ({
    steps: targets.flatMap((target) =>
      changedProperties(changes, propertiesOf(desired, target)).flatMap((property) => {
        const name = property.address.slice('accounts/'.length);
        return ownAccounts.includes(name)
          ? [
              scriptStep({
                node: property.node,
                resource: 'accounts',
                name: `${property.address}/make`,
                call: { name: 'make-account', args: { name } },
                makes: [property],
                deadlineMs: 60_000,
              }),
            ]
          : [];
      }),
    ),
    rescues: [],
  }),
  blockers: (view) => findingBlockers(view, 'accounts'),
};
