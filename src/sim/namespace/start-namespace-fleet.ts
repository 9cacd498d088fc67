import type { StartFleetOptions } from '../host/fleet-options.ts';
import type { RunningFleet } from '../host/running-fleet.ts';
import { startFleetOn } from '../host/start-fleet.ts';
import { namespaceHost } from './namespace-host.ts';

/**
 * Brings up every node of a model in namespaces of its own: the same fleet as that of the portable host, with real
 * processes, real networks and a real sshd. The model has to say how its Macs are wired.
 *
 * @throws FleetError `sim/no-namespaces`, `sim/run-folder`
 */
export const startNamespaceFleet = (options: StartFleetOptions): Promise<RunningFleet> =>
  startFleetOn(namespaceHost(options.model), options);
