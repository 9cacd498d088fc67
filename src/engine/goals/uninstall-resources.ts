import { sudo } from '../../rack/access/resource.ts';
import { linkAddress } from '../../rack/addresses/resource.ts';
import { hold } from '../../rack/hold/resource.ts';
import { identity } from '../../rack/identity/resource.ts';
import { keeper } from '../../rack/keeper/resource.ts';
import { rollback } from '../../rack/network/transaction/resource.ts';
import { placement } from '../../rack/placement/resource.ts';
import type { Property, Resource } from '../../rack/resource.ts';
import { uninstall } from '../../rack/uninstall/resource.ts';
import { nodesOf } from '../plan/nodes-of.ts';
import type { Goal } from './goal.ts';

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
