import type { DesiredFleet } from '../../model/desired.ts';
import type { Json } from '../../model/digest.ts';
import type { Known } from '../../model/known.ts';
import type { FleetObservation } from '../../rack/fleet-observation.ts';
import { propertyKey } from '../../rack/property-key.ts';
import { uninstallSights } from '../../rack/uninstall/uninstall-properties.ts';
import { resources } from './resources.ts';
import { viewOf } from './view.ts';

/**
 * What every property of every node that answered is, by `<node> <address>`: what gates compare with what steps were
 * to establish. A property that a resource does not keep at the moment is not there.
 */
export function seenProperties(desired: DesiredFleet, observation: FleetObservation): ReadonlyMap<string, Known<Json>> {
  const view = viewOf({ desired, observation, targets: desired.nodes.map(({ name }) => name) });
  const seen = resources.flatMap((resource) => [...resource.properties(view), ...(resource.sights?.(view) ?? [])]);
  return new Map([...seen, ...uninstallSights(desired, view.targets)].map((one) => [propertyKey(one), one.observed]));
}
