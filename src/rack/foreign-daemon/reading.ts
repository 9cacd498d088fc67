import type { DesiredFleet } from '../../model/desired.ts';
import type { Facts } from '../../model/facts/fact-values.ts';
import { readValue } from '../fact.ts';
import { foreignDaemonsFact } from './fact.ts';

/**
 * The foreign network daemon that manages the cables of a node because the file adopts it; meshwright then leaves
 * bridge, addresses and service order alone. Undefined if there is none, or if it is unloaded and disabled.
 */
export const adoptedDaemon = ({ thunderbolt }: DesiredFleet, facts: Facts): string | undefined =>
  thunderbolt.foreignDaemons === 'adopt'
    ? readValue(facts, foreignDaemonsFact)?.find(({ isLoaded, isDisabled }) => isLoaded || !isDisabled)?.label
    : undefined;

/** True if the keeper should maintain network settings on this node. */
export const keepsNetwork = (fleet: DesiredFleet, facts: Facts): boolean =>
  fleet.system.keeper !== undefined &&
  adoptedDaemon(fleet, facts) === undefined &&
  (fleet.thunderbolt.bridge === 'remove' || fleet.thunderbolt.pool !== undefined);

/** {@link keepsNetwork} as an argument of a script that changes services. */
export const keeperArg = (fleet: DesiredFleet, facts: Facts): { readonly keeper?: true } =>
  keepsNetwork(fleet, facts) ? { keeper: true } : {};
