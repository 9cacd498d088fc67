import type { Plan } from '../../engine/plan/plan.ts';
import type { Change, StepId } from '../../model/step.ts';
import type { EndedStep } from './apply-text.ts';

/** Finds out, step by step, which changes of a plan are made. */
export interface ChangeWatch {
  /** The changes whose last step was this one, and of which any step has changed something. */
  readonly ended: (step: Pick<EndedStep, 'step' | 'outcome'>) => readonly Change[];
}

interface Watched {
  readonly change: Change;
  readonly left: Set<StepId>;
  isChanged: boolean;
}

/** Most changes take several steps: each is told once, when all of them have done their work. */
export function watchChanges({ changes, steps }: Pick<Plan, 'changes' | 'steps'>): ChangeWatch {
  const watched = new Map(
    changes.map((change): [string, Watched] => {
      const own = steps.filter((step) => step.changes.includes(change.id)).map(({ id }) => id);
      return [change.id, { change, left: new Set(own), isChanged: false }];
    }),
  );
  return {
    ended: ({ step, outcome }) => {
      if (outcome !== 'changed' && outcome !== 'unchanged') return [];
      return step.changes.flatMap((id) => {
        const one = watched.get(id);
        if (one === undefined || !one.left.delete(step.id)) return [];
        one.isChanged ||= outcome === 'changed';
        return one.left.size === 0 && one.isChanged ? [one.change] : [];
      });
    },
  };
}
