import { type RunningFleet, type StartFleetOptions, startFleet } from '../../src/sim/hosts/control/start-fleet.ts';
import { startNamespaceFleet } from '../namespace/host/namespace-host.ts';
import { sharedLowerRoot } from './lower-root.ts';

/** The two places where simulated Macs run. */
export const simHosts = ['portable', 'namespace'] as const;

/** The name of a host. */
export type SimHost = (typeof simHosts)[number];

const isSimHost = (word: string): word is SimHost => simHosts.some((one) => one === word);

/** The host of a test: `MESHWRIGHT_SIM_HOST`, or the portable one. @throws Error for any other word */
export function chosenHost(word = process.env['MESHWRIGHT_SIM_HOST'] ?? 'portable'): SimHost {
  if (!isSimHost(word)) throw new Error(`MESHWRIGHT_SIM_HOST must be one of ${simHosts.join(', ')}, not ${word}`);
  return word;
}

/** Starts a simulated fleet on a host, by default on the chosen one. */
export const startSimFleet = async (options: StartFleetOptions, host: SimHost = chosenHost()): Promise<RunningFleet> =>
  host === 'namespace' ? startNamespaceFleet(options, await sharedLowerRoot()) : startFleet(options);
