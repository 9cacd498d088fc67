import { whereTheyRanLast } from '../../rack/placement/state/layouts.ts';
import { resources } from '../resources.ts';
import { allKinds, always, type GoalEntry, goalPlacements, withState } from './scope.ts';

export const stop: GoalEntry<'stop'> = {
  scope: (goal, desired) => {
    const names = goalPlacements(goal, desired).map(({ name }) => name);
    return {
      desired: withState(desired, 'stopped', ({ name }) => names.includes(name)),
      resources,
      barring: goal.back === undefined ? [...always, 'placement'] : allKinds,
      mayChange: (kind, { about }) =>
        kind === 'transaction' || (kind === 'placement' && names.includes(about.placement ?? '')),
    };
  },
  fleet: whereTheyRanLast,
};
