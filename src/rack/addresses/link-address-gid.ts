import { needsRdma } from '../../desired/layouts.ts';
import type { DesiredFleet } from '../../model/desired.ts';
import { known } from '../../model/known.ts';
import type { Patch } from '../../model/step.ts';
import { type Addressed, addressed } from '../../model/subject.ts';
import { read } from '../fact.ts';
import { rdmaPortsFact } from '../rdma/devices-fact.ts';
import type { ObservedTarget, Sight, View } from '../resource.ts';
import { wantedAddresses } from './link-address-properties.ts';
import { receptacleDevices } from './link-address-seen.ts';

const gidAddress = (receptacle: number): Addressed => addressed({ kind: 'rdma-gid', receptacle });

/** Whether the RDMA device of each cabled receptacle has the GID of its address, where that can be seen. */
function gidSights(fleet: DesiredFleet, { desired: { name: node }, facts }: ObservedTarget): readonly Sight[] {
  const devices = receptacleDevices(facts);
  const ports = read(facts, rdmaPortsFact);
  if (devices.kind === 'unknown' || ports.kind === 'unknown' || !needsRdma(fleet, node)) {
    return [];
  }
  return wantedAddresses(fleet, node).flatMap(({ receptacle, address: ipv4 }) => {
    const port = ports.value.find(({ device }) => device === `rdma_${devices.value.get(receptacle)}`);
    // A port that is not active gets no GID: the cable, or RDMA at the far end, is what is missing there.
    return port?.state === 'active'
      ? [{ node, ...gidAddress(receptacle), observed: known(port.gids.some((gid) => gid.ipv4 === ipv4)) }]
      : [];
  });
}

/** Sights of all targets: a GID follows from the address, and nothing else makes one. */
export const linkGidSights = ({ desired, targets }: View): readonly Sight[] =>
  targets.flatMap((target) => gidSights(desired, target));

/** What a gate waits for beside the addresses of these receptacles. */
export function expectedGids(
  fleet: DesiredFleet,
  target: ObservedTarget,
  receptacles: readonly number[],
): readonly Patch[] {
  return gidSights(fleet, target)
    .filter(({ about }) => about.receptacle !== undefined && receptacles.includes(about.receptacle))
    .map(({ node, address, about }) => ({ node, address, about, value: true }));
}
