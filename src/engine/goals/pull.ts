import type { Step } from '../../model/step.ts';
import { sudo } from '../../rack/access/resource.ts';
import { accounts } from '../../rack/accounts/resource.ts';
import { model } from '../../rack/artifacts/models/model-resource.ts';
import type { GoalOf } from '../../rack/goal.ts';
import { identity } from '../../rack/identity/resource.ts';
import type { Property, Resource } from '../../rack/resource.ts';
import { ownGoal } from './scope.ts';

/** The steps up to the last job of each chain, which is only launched. */
function detached(steps: readonly Step[]): readonly Step[] {
  const isJob = ({ act }: Step): boolean => act.kind === 'job';
  const laterJobs = (one: Step): boolean => steps.some((other) => isJob(other) && isAfter(other, one, steps));
  return steps.flatMap((one) => {
    if (!isJob(one)) return laterJobs(one) ? [one] : [];
    if (one.act.kind !== 'job' || laterJobs(one)) return [one];
    return [{ ...one, act: { ...one.act, isDetached: true as const } }];
  });
}

/** True if a step needs another one, directly or through others. */
function isAfter(step: Step, other: Step, steps: readonly Step[]): boolean {
  return step.needs.some(
    (id) => id === other.id || steps.some((between) => between.id === id && isAfter(between, other, steps)),
  );
}

/** The models of the file on their nodes, without anything that uses them. */
function namedModels({ names, isDetached }: GoalOf<'pull'>): Resource {
  const isNamed = ({ about }: Pick<Property, 'about'>): boolean => names.includes(about.name ?? '');
  return {
    kind: model.kind,
    after: model.after,
    properties: (view) => {
      const own = model.properties(view).filter(isNamed);
      return isDetached ? own.map((one) => ({ ...one, to: 'being prepared' })) : own;
    },
    steps: (changes, view) => {
      const made = model.steps(changes, view);
      return isDetached ? { ...made, steps: detached(made.steps) } : made;
    },
    blockers: (view) =>
      (model.blockers?.(view) ?? []).filter(({ property }) => property !== undefined && isNamed(property)),
  };
}

/** Downloads run as an account of their own, which is created if it is missing. */
export const pull = ownGoal(namedModels, {
  before: [identity, sudo, accounts],
  changes: ['model', 'accounts'],
  isBarring: true,
});
