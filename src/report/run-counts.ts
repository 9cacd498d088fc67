import type { FleetObservation } from '../doctor/fleet-observation.ts';
import type { DesiredFleet } from '../model/desired.ts';
import type { NodeName } from '../model/node.ts';
import type { Change } from '../model/step.ts';
import type { Plan } from '../plan/plan.ts';
import { judgeProperty } from '../resources/change.ts';
import { propertyKey } from '../resources/property-key.ts';
import { resources } from '../resources/registry.ts';
import { viewOf } from '../resources/view.ts';
import type { RunCounts } from './apply-text.ts';

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
  return {
    changed: made.length,
    failed: ids.size - made.length,
    unchanged: [...met].filter((key) => !ids.has(key)).length,
    left: last.changes.length,
    waiting: last.waiting.length,
    blockers: last.blockers.length,
    unseen,
  };
}

const propertyIdOf = ({ node, resource }: Plan['waiting'][number]): string => `${node} ${resource}`;
