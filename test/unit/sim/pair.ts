import { nodeName } from '../../../src/model/node.ts';
import type { SimulatedFleet } from '../../../src/sim/model/fleet.ts';
import { desiredRack, fleetOf, link } from './rack.ts';

/** How two Macs are cabled and set up. */
export interface Pair {
  readonly models: readonly [string, string];
  readonly ends: readonly [number, number];
  readonly bridge?: 'remove' | 'keep';
  readonly hasPool?: boolean;
  readonly fileVault?: 'any' | 'enabled';
}

/** Two Macs called `one` and `two` with one cable. */
export function pair({ models, ends, bridge = 'remove', hasPool = true, fileVault = 'any' }: Pair): SimulatedFleet {
  const { pool, ...thunderbolt } = desiredRack.thunderbolt;
  return fleetOf({
    ...desiredRack,
    nodes: models.map((model, index) => ({
      name: nodeName(index === 0 ? 'one' : 'two'),
      host: `${index}.lan`,
      hardware: { model },
      labels: {},
    })),
    system: { ...desiredRack.system, fileVault },
    thunderbolt: {
      ...thunderbolt,
      bridge,
      links: [link(0, `one:${ends[0]}`, `two:${ends[1]}`)],
      ...(hasPool && pool !== undefined ? { pool } : {}),
    },
  });
}
