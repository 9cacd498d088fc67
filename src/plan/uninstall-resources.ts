import { hold } from '../resources/hold.ts';
import { identity } from '../resources/identity.ts';
import { keeper } from '../resources/keeper.ts';
import { linkAddress } from '../resources/link-address.ts';
import { placement } from '../resources/placement.ts';
import type { Property, Resource } from '../resources/resource.ts';
import { rollback } from '../resources/rollback.ts';
import { sudo } from '../resources/sudo.ts';
import { uninstall } from '../resources/uninstall.ts';
import type { Goal } from './goal.ts';
import { nodesOf } from './nodes-of.ts';

type UninstallGoal = Extract<Goal, { kind: 'uninstall' }>;

/** A resource that keeps no other properties than these. */
const narrowed = (resource: Resource, isMeant: (property: Property) => boolean): Resource => ({
  ...resource,
  properties: (view) => resource.properties(view).filter(isMeant),
});

/**
 * What an uninstallation is about: a few kinds, on its nodes alone, and the placements that it stops. What runs over the
 * cables goes before their addresses, and so does the keeper, which would put them back.
 */
export function uninstallResources(goal: UninstallGoal): readonly Resource[] {
  const isOn = ({ node }: Property): boolean => goal.nodes.includes(node);
  const isPlaced = (property: Property): boolean => {
    const { placement: name, part } = property.about;
    return name === undefined ? isOn(property) : part === undefined && goal.placements.includes(name);
  };
  const ownKeeper = narrowed(keeper, isOn);
  const addresses = narrowed(linkAddress, isOn);
  return [
    hold,
    identity,
    sudo,
    narrowed(rollback, (property) => nodesOf(property).some((node) => goal.nodes.includes(node))),
    { ...narrowed(placement, isPlaced), after: ['identity', 'sudo'] },
    { ...ownKeeper, after: ['identity', 'sudo'] },
    {
      ...addresses,
      after: ['identity', 'sudo', 'placement', 'keeper'],
      blockers: (view) =>
        linkAddress
          .blockers(view)
          .filter(({ code, node }) => code === 'network/carries-connection' && goal.nodes.includes(node)),
    },
    uninstall(goal),
  ];
}
