import { accounts } from '../../rack/accounts/resource.ts';
import { listProperties, listSteps } from '../../rack/artifacts/runtimes/list-packages.ts';
import type { GoalOf } from '../../rack/goal.ts';
import { perTarget, type Resource } from '../../rack/resource.ts';
import { ownGoal, preconditions } from './scope.ts';

const lists = ({ names }: GoalOf<'list-packages'>): Resource => ({
  kind: 'runtime',
  after: ['identity', 'sudo', 'accounts'],
  ...perTarget(
    (fleet, target) => listProperties(fleet, target, ({ runtime }) => names.includes(runtime.name)),
    (fleet, target, made) => made.flatMap((property) => listSteps(fleet, target, property)),
  ),
});

export const listPackages = ownGoal(lists, {
  before: [...preconditions, accounts],
  changes: ['transaction', 'accounts', 'runtime'],
});
