import { withFallbacks } from '../../desired/layouts.ts';
import { whereTheyRanLast, whereTheyRun } from '../../rack/placement/state/layouts.ts';
import { resources } from '../resources.ts';
import { allKinds, type GoalEntry, goalPlacements, isStateOf, withState } from './scope.ts';

export const start: GoalEntry<'start'> = {
  scope: (goal, desired) => {
    const names = goalPlacements(goal, desired).map(({ name }) => name);
    return {
      desired: withState(desired, 'serving', ({ name }) => names.includes(name)),
      resources,
      barring: allKinds,
      mayChange: (kind, property) =>
        kind === 'transaction' ||
        (kind === 'placement' && names.includes(property.about.placement ?? '')) ||
        isStateOf(property, names),
    };
  },
  fleet: (desired, nodes, { placements: names, layout }) => {
    const current = whereTheyRun(desired, nodes);
    if (layout === 'fallback') return withFallbacks(current, ({ name }) => names.includes(name));
    if (layout === 'own') return current;
    const last = whereTheyRanLast(desired, nodes).placements;
    const placements = current.placements.map((one, at) => (names.includes(one.name) ? (last[at] ?? one) : one));
    return { ...current, placements };
  },
};
