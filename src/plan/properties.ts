import type { FleetObservation } from '../doctor/fleet-observation.ts';
import type { DesiredFleet } from '../model/desired.ts';
import type { Json } from '../model/json.ts';
import type { Known } from '../model/known.ts';
import { propertyKey } from '../resources/property-key.ts';
import { resources } from '../resources/registry.ts';
import { uninstallSights } from '../resources/uninstall-properties.ts';
import { viewOf } from '../resources/view.ts';

/**
 * What every property of every node that answered is, by `<node> <address>`: what gates compare with what steps were
 * to establish. A property that a resource does not keep at the moment is not there.
 */
export function seenProperties(desired: DesiredFleet, observation: FleetObservation): ReadonlyMap<string, Known<Json>> {
  const view = viewOf({ desired, observation, targets: desired.nodes.map(({ name }) => name) });
  const seen = resources.flatMap((resource) => [...resource.properties(view), ...(resource.sights?.(view) ?? [])]);
  return new Map([...seen, ...uninstallSights(desired, view.targets)].map((one) => [propertyKey(one), one.observed]));
}
