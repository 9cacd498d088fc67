import { type LoadedCluster, loadClusterWith } from '../config/load-cluster-with.ts';
import { type LoadedLock, parseLockWith } from '../config/lock.ts';
import { keysByDriver } from '../drivers/registry.ts';

/** {@link loadClusterWith} for the drivers of this package. */
export const loadCluster = (input: string | Uint8Array, file: string): LoadedCluster =>
  loadClusterWith(keysByDriver, input, file);

/** {@link parseLockWith} for the drivers of this package. */
export const parseLock = (input: string | Uint8Array, file: string): LoadedLock =>
  parseLockWith(keysByDriver, input, file);
