import type { DesiredFleet } from '../../model/desired.ts';
import type { Facts } from '../../model/facts/observation.ts';

/**
 * Whether macOS lets no ssh session change the network preferences of this Mac (no Full Disk Access), so that the keeper
 * holds what can be held without them, and nobody what cannot. Where the file wants no keeper, nothing is left to it.
 */
export const isLeftToKeeper = ({ system }: Pick<DesiredFleet, 'system'>, { keeper }: Facts): boolean =>
  system.keeper !== undefined && keeper.kind === 'known' && keeper.value.isRefused;
