import { accounts } from '../../rack/accounts/resource.ts';
import { installedProperties, installSteps, runtime } from '../../rack/artifacts/runtimes/runtime-resource.ts';
import type { GoalOf } from '../../rack/goal.ts';
import { perTarget, type Resource } from '../../rack/resource.ts';
import { ownGoal, preconditions } from './scope.ts';

const installs = ({ names }: GoalOf<'install-runtime'>): Resource => ({
  kind: runtime.kind,
  after: runtime.after,
  ...perTarget(
    (fleet, target) => installedProperties(fleet, target, names),
    (fleet, target, made) => made.flatMap((property) => installSteps(fleet, target, property)),
  ),
});

/** Archives are downloaded under an account of their own, which is created if it is missing. */
export const installRuntime = ownGoal(installs, {
  before: [...preconditions, accounts],
  changes: ['accounts', 'runtime'],
});
