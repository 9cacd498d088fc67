import type { Facts } from '../model/observation.ts';

/**
 * Whether macOS lets no ssh session change the network preferences of this Mac (no Full Disk Access), so that the keeper
 * holds what can be held without them, and nobody what cannot.
 */
export const isLeftToKeeper = ({ keeper }: Facts): boolean => keeper.kind === 'known' && keeper.value.isRefused;
