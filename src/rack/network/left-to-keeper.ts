import type { DesiredFleet } from '../../model/desired.ts';
import type { Facts } from '../../model/facts/fact-values.ts';
import { read } from '../fact.ts';
import { keeperFact } from '../keeper/fact.ts';

/**
 * Whether macOS lets no ssh session change the network preferences of this Mac (no Full Disk Access), so that the keeper
 * holds what can be held without them, and nobody what cannot. Where the file wants no keeper, nothing is left to it.
 */
export const isLeftToKeeper = ({ system }: Pick<DesiredFleet, 'system'>, facts: Facts): boolean => {
  const keeper = read(facts, keeperFact);
  return system.keeper !== undefined && keeper.kind === 'known' && keeper.value.isRefused;
};
