import { plainText } from '../../../src/diagnostics/prose-text.ts';
import type { DesiredFleet } from '../../../src/model/desired.ts';
import type { Link } from '../../../src/model/link.ts';
import { nodeName } from '../../../src/model/node.ts';
import { type ActiveFault, applyFaults } from '../../../src/sim/faults/faults.ts';
import type { SimulatedFleet } from '../../../src/sim/model/fleet.ts';
import { nodeFiles } from '../../../src/sim/render-node.ts';
import { simulateFleet } from '../../../src/sim/simulate-fleet.ts';

/** A cable from texts like `studio-1:2`. */
export function link(index: number, one: string, other: string): Link {
  const end = (text: string): Link['ends'][0] => {
    const [name = '', receptacle = ''] = text.split(':');
    return { node: nodeName(name), receptacle: Number(receptacle) };
  };
  return { index, ends: [end(one), end(other)] };
}

const cables: readonly (readonly [string, string])[] = [
  ['studio-1:2', 'studio-2:2'],
  ['studio-1:3', 'studio-3:2'],
  ['studio-1:4', 'studio-4:2'],
  ['studio-2:3', 'studio-3:3'],
  ['studio-2:4', 'studio-4:3'],
  ['studio-3:4', 'studio-4:4'],
];

/** Four Mac Studios with six cables, as a file would want them. */
export const desiredRack: DesiredFleet = {
  name: 'studio-rack',
  nodes: [1, 2, 3, 4].map((number) => ({
    name: nodeName(`studio-${number}`),
    host: `studio-${number}.lan`,
    hardware: { model: 'Mac15,14', memoryBytes: 2 ** (number < 3 ? 39 : 38) },
    labels: {},
  })),
  macos: { version: '26.5' },
  power: { sleepMinutes: 0, restartAfterPowerLoss: true },
  system: { wiredLimit: { kind: 'auto' }, fileVault: 'any', accounts: {} },
  thunderbolt: {
    bridge: 'remove',
    rdma: 'required',
    pool: { address: '10.77.0.0', prefixLength: 24 },
    avoid: [],
    links: cables.map(([one, other], index) => link(index, one, other)),
    networks: {},
    formerNetworks: [],
  },
  runtimes: [],
  models: [],
  placements: [],
};

/** The simulated fleet of a file that is known to be good. */
export function fleetOf(desired: DesiredFleet = desiredRack): SimulatedFleet {
  const result = simulateFleet(desired, 'test');
  if (result.kind === 'fleet') return result.fleet;
  throw new Error(result.diagnostics.map(({ detail }) => plainText(detail)).join('\n'));
}

/** The fleet with faults that are known to be possible. */
export function broken(fleet: SimulatedFleet, ...active: readonly ActiveFault[]): SimulatedFleet {
  const result = applyFaults(fleet, active);
  if (result.kind === 'fleet') return result.fleet;
  throw new Error(plainText(result.diagnostics[0].detail));
}

/** The texts of a node's files by path. */
export const filesOf = (fleet: SimulatedFleet, node: string): ReadonlyMap<string, string> =>
  new Map(nodeFiles(fleet, node).map(({ path, text }) => [path, text]));

/** The stored answer of one command line; the empty text when there is none. */
export const answer = (fleet: SimulatedFleet, node: string, name: string): string =>
  filesOf(fleet, node).get(`/.sim/answers/${name}`) ?? '';
