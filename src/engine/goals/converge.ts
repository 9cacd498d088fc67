import type { DesiredPlacement } from '../../model/desired.ts';
import { whereTheyRanLast } from '../../rack/placement/state/layouts.ts';
import { resources } from '../resources.ts';
import { allKinds, always, type GoalEntry, isStateOf } from './scope.ts';

export const converge: GoalEntry<'converge'> = {
  scope: ({ only: kinds = allKinds }, desired) => {
    const names = desired.placements.map(({ name }) => name);
    return {
      desired,
      resources,
      // If a start follows, any blocked kind also blocks the stop.
      barring: kinds.includes('placement') ? allKinds : [...always, ...kinds],
      // Gateways are included with their placement so that a new run finishes both after an interruption.
      mayChange: (kind, property) =>
        kind === 'transaction' || kinds.includes(kind) || (kinds.includes('placement') && isStateOf(property, names)),
    };
  },
  // Placements are planned on their own nodes, so that apply moves them back.
  fleet: (desired, nodes, { overTcp = [] }) => {
    const last = whereTheyRanLast(desired, nodes).placements;
    const placements = desired.placements.map((one, at) => (one.state === 'stopped' ? (last[at] ?? one) : one));
    return { ...desired, placements: placements.map((one) => (overTcp.includes(one.name) ? withTcp(one) : one)) };
  },
};

/** A backend of the file needs RDMA. */
const withTcp = ({ backend: _, ...one }: DesiredPlacement): DesiredPlacement => ({ ...one, transport: 'tcp' });
