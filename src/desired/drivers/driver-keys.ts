/** Which keys of `runtimes` and `placements` a driver needs, and which it takes besides those that all have. */
export interface DriverKeys {
  readonly needs: readonly string[];
  readonly takes: readonly string[];
  readonly ofPlacements: readonly string[];
}

/** The keys of each driver, by its name. The list of drivers hands them to what reads the file. */
export type KeysByDriver = Readonly<Record<string, DriverKeys>>;

const driversWith = (keys: KeysByDriver, has: (own: DriverKeys) => boolean): readonly string[] => {
  const own = Object.entries(keys).flatMap(([driver, its]) => (has(its) ? [driver] : []));
  return own.length === 0 ? Object.keys(keys) : own;
};

/** The drivers that take a key of a runtime; all of them for a key that is for all. */
export const driversOfKey = (keys: KeysByDriver, key: string): readonly string[] =>
  driversWith(keys, ({ needs, takes }) => needs.includes(key) || takes.includes(key));

/** The drivers that take a key of a placement; all of them for a key that is for all. */
export const driversOfPlacementKey = (keys: KeysByDriver, key: string): readonly string[] =>
  driversWith(keys, ({ ofPlacements }) => ofPlacements.includes(key));
