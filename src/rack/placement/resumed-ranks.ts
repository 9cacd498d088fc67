import { mapKnown } from '../../model/known.ts';
import { addressed } from '../../model/subject.ts';
import { scriptStep } from '../build-step.ts';
import { compared } from '../compare-values.ts';
import type { GoalOf } from '../goal.ts';
import { perTarget, type Resource } from '../resource.ts';
import { seeRank } from './mesh/rank-states.ts';

/** The ranks of these placements, none of them suspended by a signal. */
export const resumedRanks = ({ placements }: GoalOf<'continue'>): Resource => ({
  kind: 'placement',
  after: ['identity', 'sudo'],
  ...perTarget(
    (fleet, { desired: { name: node }, facts }) =>
      fleet.placements
        .filter(({ name, nodes }) => placements.includes(name) && nodes.includes(node))
        .map(({ name: placement }) => {
          const { seen } = seeRank(node, placement, facts);
          const state = mapKnown(seen, ({ suspended }) => (suspended === undefined ? 'not suspended' : 'suspended'));
          const address = addressed({ kind: 'placement', placement, part: 'rank' });
          return { node, ...address, ...compared('not suspended', state, (text) => text), reason: 'recover' };
        }),
    (_fleet, _target, makes) =>
      makes.map((made) =>
        scriptStep({
          name: `${made.address}/continue`,
          call: { name: 'continue-rank', args: { placement: made.about.placement ?? '' } },
          makes: [made],
          deadlineMs: 30_000,
        }),
      ),
  ),
});
