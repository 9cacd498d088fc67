import type { DesiredFleet } from '../model/desired.ts';
import type { Property } from '../resources/resource.ts';

/** Kinds of which a node has several things, each with users of its own. */
const shared = /^(?:runtime|model)\//;

/**
 * Whether a later property depends on an earlier one of its nodes. A placement needs its own runtime and its own
 * model, whatever becomes of the others there; everything else needs all that comes before it.
 */
export function isUsedBy({ address }: Pick<Property, 'address'>, earlier: string, desired: DesiredFleet): boolean {
  const name = /^placement\/([^/]+)/.exec(address)?.[1];
  const placement = desired.placements.find((one) => one.name === name);
  if (name === undefined || !shared.test(earlier)) {
    return true;
  }
  return placement !== undefined && [`runtime/${placement.runtime}`, `model/${placement.model}`].includes(earlier);
}
