import { resumedRanks } from '../../rack/placement/resumed-ranks.ts';
import { whereTheyRanLast } from '../../rack/placement/state/layouts.ts';
import { type GoalEntry, ownGoal } from './scope.ts';

export const continueRanks: GoalEntry<'continue'> = { ...ownGoal(resumedRanks), fleet: whereTheyRanLast };
