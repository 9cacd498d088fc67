import { withFallbacks } from '../../desired/layouts.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import type { FleetObservation } from '../../rack/fleet-observation.ts';
import { whereTheyRanLast, whereTheyRun } from '../../rack/placement/state/layouts.ts';
import type { Goal } from './goal.ts';

/**
 * The fleet with its placements on the nodes that a goal means: what is stopped is stopped where it runs, and what is
 * started goes where it is wanted. What is to serve by the file serves on its own nodes, so that a plan for the whole
 * file moves it back.
 */
export function fleetForGoal(goal: Goal, desired: DesiredFleet, { nodes }: FleetObservation): DesiredFleet {
  switch (goal.kind) {
    case 'hold':
    case 'uninstall':
      return desired;
    case 'converge': {
      const last = whereTheyRanLast(desired, nodes).placements;
      const placements = desired.placements.map((one, at) => (one.state === 'stopped' ? (last[at] ?? one) : one));
      return { ...desired, placements };
    }
    case 'stop':
    case 'drain':
    case 'reboot':
    case 'shutdown':
      return whereTheyRanLast(desired, nodes);
    case 'start': {
      const isNamed = ({ name }: { readonly name: string }): boolean => goal.placements.includes(name);
      const current = whereTheyRun(desired, nodes);
      if (goal.layout === 'fallback') return withFallbacks(current, isNamed);
      if (goal.layout === 'own') return current;
      const last = whereTheyRanLast(desired, nodes).placements;
      return { ...current, placements: current.placements.map((one, at) => (isNamed(one) ? (last[at] ?? one) : one)) };
    }
  }
}
