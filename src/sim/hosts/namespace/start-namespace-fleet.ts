import { startFleetOn } from '../control/start-fleet.ts';
import type { StartFleetOptions } from '../fleet-options.ts';
import type { RunningFleet } from '../running-fleet.ts';
import { namespaceHost } from './namespace-host.ts';

/**
 * Brings up every node of a model in namespaces of its own: the same fleet as that of the portable host, with real
 * processes, real networks and a real sshd. The model has to say how its Macs are wired.
 *
 * @param builtLower what all its Macs have in common, where it was built for several fleets
 * @throws FleetError `sim/no-namespaces`, `sim/run-folder`
 */
export const startNamespaceFleet = (options: StartFleetOptions, builtLower?: string): Promise<RunningFleet> =>
  startFleetOn(namespaceHost(options.model, builtLower), options);
