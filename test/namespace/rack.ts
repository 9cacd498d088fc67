import type { RunTiming } from '../../src/apply/run-timing.ts';
import type { RunningFleet, StartFleetOptions } from '../../src/sim/hosts/control/start-fleet.ts';
import { startSimFleet } from '../contract/sim-host.ts';
import { quickTiming } from '../scenarios/apply-rack.ts';
import type { FileValue } from '../scenarios/converge-file.ts';
import { type ConvergeRack, startConvergeRackBy } from '../scenarios/converge-rack.ts';

/** A rack of Macs in namespaces that is converged to a file. */
export type NamespaceRack = ConvergeRack<RunningFleet>;

/**
 * The times of a run here. A beat of a lease is a dozen processes behind a real sshd, a look of a gate more than a
 * hundred: as often as the portable host is asked, they would be most of what this machine does. Nobody here waits for
 * a lease to expire.
 */
const steadyTiming: RunTiming = {
  ...quickTiming,
  beatMs: 2_000,
  leaseExpiryMs: 20_000,
  gatePollMs: 500,
  jobPollMs: 200,
};

/** Starts such a rack: that of the pair, unless another file is given. @param more of how its fleet is started */
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
    apply: (wish) => rack.apply({ timing: steadyTiming, ...wish }),
    converge: (wish) => rack.converge({ timing: steadyTiming, ...wish }),
  };
}
