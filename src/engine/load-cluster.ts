import { type LoadedCluster, loadClusterWith } from '../config/load-cluster-with.ts';
import { keysByDriver } from '../drivers/registry.ts';

/** {@link loadClusterWith} for the drivers of this package. */
export const loadCluster = (input: string | Uint8Array, file: string): LoadedCluster =>
  loadClusterWith(keysByDriver, input, file);
