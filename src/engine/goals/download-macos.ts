import { digestOf } from '../../model/digest.ts';
import { known } from '../../model/known.ts';
import { addressed } from '../../model/subject.ts';
import { buildStep } from '../../rack/build-step.ts';
import type { GoalOf } from '../../rack/goal.ts';
import { type ObservedTarget, type Property, perTarget, type Resource } from '../../rack/resource.ts';
import { ownGoal } from './scope.ts';

/** If the tool prints no percentages, this is the time for a whole download. */
const stallMs = 7_200_000;

const own = addressed({ kind: 'macos', name: 'download' });

/** What a Mac has downloaded is not observed: the tool itself finds what is already there. */
const propertyOf = ({ install: { to } }: GoalOf<'download-macos'>, { desired }: ObservedTarget): Property => ({
  node: desired.name,
  ...own,
  desired: 'downloaded',
  observed: known('unchecked'),
  from: 'not checked',
  to: `${to} downloaded`,
  reason: 'macos.version',
});

const downloads = (goal: GoalOf<'download-macos'>): Resource => ({
  kind: 'macos',
  after: ['identity', 'sudo'],
  ...perTarget(
    (_, target) => (goal.nodes.includes(target.desired.name) ? [propertyOf(goal, target)] : []),
    (_, { desired: { name: node } }, made) => {
      const install = goal.install.on[node];
      if (install === undefined) return [];
      const args = { label: install.label };
      const act = { kind: 'job', key: digestOf({ node, ...args }), name: 'download-macos', args } as const;
      return [buildStep({ name: own.address, class: 'job', act, towards: made, deadlineMs: stallMs })];
    },
  ),
});

export const downloadMacos = ownGoal(downloads);
