import type { Plan } from '../../engine/plan/plan.ts';
import { resources } from '../../engine/plan/resources.ts';
import { viewOf } from '../../engine/plan/view.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import type { NodeName } from '../../model/node.ts';
import type { Change } from '../../model/step.ts';
import { judgeProperty } from '../../rack/change.ts';
import type { FleetObservation } from '../../rack/fleet-observation.ts';
import { propertyKey } from '../../rack/property-key.ts';
import type { EndedStep, RunCounts } from './apply-text.ts';
import { watchChanges } from './change-watch.ts';

/** A plan with what came of its steps, where it was run. */
export interface RanPlan {
  readonly plan?: Plan;
  readonly run?: { readonly steps: readonly (Pick<EndedStep, 'step' | 'outcome'> & { readonly rescues?: string })[] };
}

/** What was planned, and what is seen now. */
export interface RunSight {
  /** Of every plan that was run. */
  readonly planned: readonly Change[];
  /** The plan of the last look. */
  readonly last: Plan;
  readonly desired: DesiredFleet;
  readonly observation: FleetObservation;
  readonly targets: readonly NodeName[];
}

/** Counts by property what a run came to. Only what the last look has seen counts as changed. */
export function countRun({ planned, last, desired, observation, targets }: RunSight): RunCounts {
  const view = viewOf({ desired, observation, targets });
  const properties = resources.flatMap((resource) => resource.properties(view));
  const met = new Set(properties.filter((one) => judgeProperty(one) === 'met').map(propertyKey));
  const ids = new Set(planned.map(({ id }) => id));
  const open = new Set([...last.changes.map(({ id }) => id), ...last.waiting.map(propertyIdOf)]);
  const unseen = targets.filter((name) => !Object.hasOwn(last.observed, name));
  const isMade = (change: Change): boolean => !open.has(change.id) && !unseen.includes(change.node);
  const made = [...ids].filter((id) => planned.some((change) => change.id === id && isMade(change)));
  const hands = last.blockers.filter(({ isHands }) => isHands).length;
  // Of what was not seen nobody can say that there is none of it.
  const known = (count: number): number | null => (count === 0 && unseen.length > 0 ? null : count);
  return {
    changed: known(made.length),
    failed: known(ids.size - made.length),
    unchanged: known([...met].filter((key) => !ids.has(key)).length),
    left: last.changes.length,
    waiting: last.waiting.length,
    blockers: last.blockers.length - hands,
    hands,
    unseen,
  };
}

/** What can be counted of a run that ended without a last look: changes of which every step has done its work. */
export function countUnchecked(works: readonly RanPlan[], targets: readonly NodeName[]): RunCounts {
  const made = works.flatMap(({ plan, run }) => {
    if (plan === undefined || run === undefined) return [];
    const watch = watchChanges(plan);
    return run.steps.filter(({ rescues }) => rescues === undefined).flatMap((step) => watch.ended(step));
  });
  const changed = new Set(made.map(({ id }) => id)).size;
  const none = { failed: null, unchanged: null, left: 0, waiting: 0, blockers: 0, hands: 0 };
  return { changed: changed === 0 ? null : changed, ...none, unseen: [...targets] };
}

const propertyIdOf = ({ node, resource }: Plan['waiting'][number]): string => `${node} ${resource}`;
