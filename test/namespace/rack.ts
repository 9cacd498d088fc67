import type { RunTiming } from '../../src/apply/run-timing.ts';
import type { RunningFleet, StartFleetOptions } from '../../src/sim/hosts/control/start-fleet.ts';
import { startSimFleet } from '../contract/sim-host.ts';
import { quickTiming } from '../scenarios/apply-rack.ts';
import type { FileValue } from '../scenarios/converge-file.ts';
import { type ConvergeRack, startConvergeRackBy } from '../scenarios/converge-rack.ts';

/** A rack of Macs in namespaces that is converged to a file. */
export type NamespaceRack = ConvergeRack<RunningFleet>;

/**
 * The timing of a run on this host. Behind a real sshd, a heartbeat costs a dozen processes, and a gate's poll more
 * than a hundred. At the portable host's rate, they would use most of this machine. No test on this host waits for a
 * lease to expire.
 */
const steadyTiming: RunTiming = {
  ...quickTiming,
  heartbeatMs: 2_000,
  leaseExpiryMs: 20_000,
  gatePollMs: 500,
  jobPollMs: 200,
};

/** Starts a rack of Macs in namespaces, by default that of the pair. @param more options of its fleet */
export async function startNamespaceRack(
  seed: string,
  file?: FileValue,
  more: Partial<StartFleetOptions> = {},
): Promise<NamespaceRack> {
  const start = (options: StartFleetOptions): Promise<RunningFleet> =>
    startSimFleet({ ...options, ...more }, 'namespace');
  const rack = await startConvergeRackBy(start, seed, file);
  return {
    ...rack,
    apply: (options) => rack.apply({ timing: steadyTiming, ...options }),
    converge: (options) => rack.converge({ timing: steadyTiming, ...options }),
  };
}
