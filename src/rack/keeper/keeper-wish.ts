import { isBeyondMemory, wantedWiredMegabytes } from '../../desired/amounts.ts';

import type { DesiredFleet } from '../../model/desired.ts';
import { type Known, known } from '../../model/known.ts';
import type { Kept } from '../../node/paths/keeper-files.ts';
import { wantedAddresses } from '../addresses/link-address-properties.ts';
import { read } from '../fact.ts';
import { keepsNetwork } from '../foreign-daemon/adopted-daemon.ts';
import { hardwareFact } from '../identity/hardware-fact.ts';
import type { ObservedTarget } from '../resource.ts';

/** The wired limit is lost at each start; the default of macOS comes back by itself. */
const hasLimit = ({ system: { wiredLimit } }: DesiredFleet): boolean =>
  wiredLimit !== undefined && wiredLimit.kind !== 'default';

function wiredPart({ system: { wiredLimit } }: DesiredFleet, memoryBytes: number): Pick<Kept, 'wiredMegabytes'> {
  const megabytes = wantedWiredMegabytes(wiredLimit, memoryBytes);
  return megabytes === undefined || isBeyondMemory(wiredLimit, memoryBytes) ? {} : { wiredMegabytes: megabytes };
}

/**
 * What the keeper is to hold on a node; undefined where it is not to be there. Of receptacles it gets all that the file
 * gives an address, whatever is seen of them now: it looks itself, in each round.
 */
export function keeperWish(fleet: DesiredFleet, target: ObservedTarget): Known<Kept | undefined> {
  const hardware = read(target.facts, hardwareFact);
  if (fleet.system.keeper === undefined) return known(undefined);
  if (hasLimit(fleet) && hardware.kind === 'unknown') return hardware;
  const isNetworkOurs = keepsNetwork(fleet, target.facts);
  const kept: Kept = {
    isBridgeRemoved: isNetworkOurs && fleet.thunderbolt.bridge === 'remove',
    ...(hasLimit(fleet) && hardware.kind === 'known' ? wiredPart(fleet, hardware.value.memoryBytes) : {}),
    addresses: isNetworkOurs ? wantedAddresses(fleet, target.desired.name) : [],
  };
  const isNothing = !kept.isBridgeRemoved && kept.wiredMegabytes === undefined && kept.addresses.length === 0;
  return known(isNothing ? undefined : kept);
}
