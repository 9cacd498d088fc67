import type { DriverName } from '../model/desired.ts';

/** Which keys of `runtimes` and `placements` a driver needs, and which it takes besides those that all have. */
export interface DriverKeys {
  readonly needs: readonly string[];
  readonly takes: readonly string[];
  readonly ofPlacements: readonly string[];
}

/** The keys of every driver; a key that stands in none of these lists is for all. */
export const driverKeys: Readonly<Record<DriverName, DriverKeys>> = {
  command: { needs: ['command'], takes: ['order', 'restart', 'joined', 'token'], ofPlacements: [] },
  'llamacpp-rpc': { needs: [], takes: ['server', 'worker', 'cache'], ofPlacements: ['args', 'parallel', 'shares'] },
  mlx: { needs: ['python', 'requirements'], takes: ['wheels'], ofPlacements: ['args', 'parallel', 'backend'] },
  exo: { needs: ['version'], takes: ['program'], ofPlacements: ['args', 'parallel'] },
};

/** Whether a word names a driver. */
export const isDriver = (word: string): word is DriverName => Object.hasOwn(driverKeys, word);

const drivers = Object.keys(driverKeys).filter(isDriver);

/** The drivers that take a key of a runtime; all of them for a key that is for all. */
export function driversOfKey(key: string): readonly DriverName[] {
  const own = drivers.filter((driver) => [...driverKeys[driver].needs, ...driverKeys[driver].takes].includes(key));
  return own.length === 0 ? drivers : own;
}

/** The drivers that take a key of a placement; all of them for a key that is for all. */
export function driversOfPlacementKey(key: string): readonly DriverName[] {
  const own = drivers.filter((driver) => driverKeys[driver].ofPlacements.includes(key));
  return own.length === 0 ? drivers : own;
}
