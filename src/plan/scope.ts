import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import type { DesiredFleet, DesiredPlacement } from '../model/desired.ts';
import { resources } from '../resources/registry.ts';
import type { Property, Resource, ResourceKind } from '../resources/resource.ts';
import type { Goal } from './goal.ts';
import { nodesOf } from './nodes-of.ts';
import { restarts } from './restarts.ts';
import { uninstallResources } from './uninstall-resources.ts';

/** What a goal makes of the file and of the registry. */
export interface Scope {
  /** The file with the states that the goal overrides. */
  readonly desired: DesiredFleet;
  /** Those of the registry, and what only this goal changes. */
  readonly resources: readonly Resource[];
  /** Kinds whose blockers and unknowns count. */
  readonly barring: readonly ResourceKind[];
  /** Whether this property of this kind may be changed. */
  readonly isMeant: (kind: ResourceKind, property: Property) => boolean;
  /** Whether this is worth telling beside the plan; everything where absent. */
  readonly isTold?: (finding: Diagnostic) => boolean;
}

const always: readonly ResourceKind[] = ['identity', 'sudo', 'rollback'];
const allKinds = (): readonly ResourceKind[] => resources.map(({ kind }) => kind);

function withState(
  desired: DesiredFleet,
  state: DesiredPlacement['state'],
  isMeant: (placement: DesiredPlacement) => boolean,
): DesiredFleet {
  const placements = desired.placements.map((one) => (isMeant(one) ? { ...one, state } : one));
  return { ...desired, placements };
}

/** `placement/kimi` and `placement/kimi/service-file` are both about kimi. */
const nameOf = ({ address }: Property): string => address.split('/')[1] ?? '';

/** Which part of the fleet a goal is about. */
export function scopeOf(goal: Goal, desired: DesiredFleet): Scope {
  switch (goal.kind) {
    case 'converge': {
      const kinds = goal.only ?? allKinds();
      return {
        desired,
        resources,
        barring: [...always, ...kinds],
        isMeant: (kind) => kind === 'rollback' || kinds.includes(kind),
      };
    }
    case 'stop':
    case 'start':
      return {
        desired: withState(desired, goal.kind === 'stop' ? 'stopped' : 'serving', ({ name }) =>
          goal.placements.includes(name),
        ),
        resources,
        barring: goal.kind === 'stop' ? [...always, 'placement'] : allKinds(),
        isMeant: (kind, property) =>
          kind === 'rollback' || (kind === 'placement' && goal.placements.includes(nameOf(property))),
      };
    case 'uninstall':
      return {
        desired,
        resources: uninstallResources(goal),
        barring: [...always, 'keeper', 'link-address', 'placement', 'uninstall'],
        isMeant: (kind) => kind !== 'identity' && kind !== 'sudo',
        isTold: ({ code }) => code.startsWith('ssh/') || code.startsWith('uninstall/'),
      };
    case 'reboot':
    case 'shutdown':
      return {
        desired: withState(desired, 'stopped', ({ nodes }) => nodes.some((node) => goal.nodes.includes(node))),
        resources: [...resources, restarts(goal)],
        barring: [...always, 'placement', 'boot-session'],
        isMeant: (kind, property) => {
          const isNear = nodesOf(property).some((node) => goal.nodes.includes(node));
          return (
            kind === 'boot-session' ||
            kind === 'rollback' ||
            (kind === 'placement' && nameOf(property) !== '' && isNear)
          );
        },
      };
  }
}
