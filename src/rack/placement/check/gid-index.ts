import { linkAddresses } from '../../../desired/addresses.ts';
import { refused } from '../../../drivers/contract/checks.ts';
import type { PlacementFinding } from '../../../drivers/contract/driver.ts';
import { groupLinks } from '../../../drivers/contract/mlx-group.ts';
import { driverOf } from '../../../drivers/registry.ts';
import type { DesiredFleet, DesiredPlacement } from '../../../model/desired.ts';
import type { Facts, NodeObservation } from '../../../model/facts/fact-values.ts';
import { alike, listText } from '../../../model/lists.ts';
import { type LinkEnd, linkEndText } from '../../../model/node.ts';
import { isSameEnd } from '../../cabling/receptacle-view.ts';
import { readValue } from '../../fact.ts';
import { adoptedDaemon } from '../../foreign-daemon/adopted-daemon.ts';
import { thunderboltInterfaces } from '../../network/thunderbolt-interfaces.ts';
import { rdmaPortsFact } from '../../rdma/devices-fact.ts';

interface SeenGid {
  readonly end: LinkEnd;
  readonly device: string;
  readonly index: number;
}

/**
 * The IPv4-mapped GID of an end; undefined if unobserved. Until `apply` has set the end's address, its index cannot be
 * known. Another IPv4-mapped GID at the needed index may do as well.
 */
function gidAt(fleet: DesiredFleet, facts: Facts, end: LinkEnd, needed: number): SeenGid | undefined {
  const { thunderbolt } = fleet;
  const device = `rdma_${thunderboltInterfaces(facts)?.get(end.receptacle)}`;
  const port = readValue(facts, rdmaPortsFact)?.find((one) => one.device === device);
  const mapped = port?.gids.filter(({ ipv4 }) => ipv4 !== undefined) ?? [];
  const isOurs = thunderbolt.pool !== undefined && adoptedDaemon(fleet, facts) === undefined;
  const own = linkAddresses(thunderbolt).find((one) => isSameEnd(one.end, end))?.address;
  const settled = mapped.find(({ ipv4 }) => !isOurs || ipv4 === own);
  const found = settled && (mapped.find(({ index }) => index === needed) ?? settled);
  return found && { end, device, index: found.index };
}

/** Reports cable ends from which the runtime cannot send. Each start would fail. An unknown index is no finding. */
export function gidFindings(
  placement: DesiredPlacement,
  fleet: DesiredFleet,
  nodes: readonly NodeObservation[],
): readonly PlacementFinding[] {
  const runtime = fleet.runtimes.find(({ name }) => name === placement.runtime);
  const needed = runtime && driverOf(runtime).sendsFromGid;
  if (needed === undefined || placement.transport !== 'rdma' || placement.nodes.length === 1) return [];
  const ends = groupLinks(placement, fleet.thunderbolt).flatMap((link) => link.ends);
  const seen = ends.flatMap((end) => {
    const facts = nodes.find(({ node }) => node === end.node)?.facts;
    return (facts && gidAt(fleet, facts, end, needed)) ?? [];
  });
  const wrong = alike(
    seen.filter(({ index }) => index !== needed),
    ({ index }) => String(index),
  ).map(([{ index }, same]) => {
    const places = same.map(({ end, device }) => `${linkEndText(end)} (${device})`);
    return `index ${index} on ${listText(places.toSorted())}`;
  });
  if (wrong.length === 0) return [];
  const detail = `${runtime?.driver} sends over RDMA only from GID index ${needed}, but the GID of the IPv4 address is at ${wrong.join(', ')}. Every start fails there (RTR errno 22).`;
  return [refused('placement/gid-index', detail)];
}
