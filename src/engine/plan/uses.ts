import type { DesiredFleet, DesiredPlacement } from '../../model/desired.ts';
import type { NodeName } from '../../model/node.ts';
import type { Addressed, AddressParts } from '../../model/subject.ts';
import { doormenOn } from '../../rack/placement/endpoint/gateways.ts';

/** Something that may stand in the way of later properties, and where. */
export interface Earlier {
  /** The kind of its resource. */
  readonly kind: string;
  /** One property of its kind; all of them on its nodes when absent. */
  readonly property?: Addressed;
  readonly nodes: readonly NodeName[];
}

/** Whether a receptacle of a member is joined to another member. */
function isBetweenMembers({ thunderbolt }: DesiredFleet, { nodes }: DesiredPlacement, earlier: Earlier): boolean {
  const link = thunderbolt.links.find(({ ends }) =>
    ends.some((end) => end.receptacle === earlier.property?.about.receptacle && earlier.nodes.includes(end.node)),
  );
  return link?.ends.every(({ node }) => nodes.includes(node)) ?? false;
}

/** Whether it is a doorman before which the file does not have this placement: what is left is ended before its ranks. */
function isLeftBy(name: string | undefined, { property, nodes }: Earlier, desired: DesiredFleet): boolean {
  const about = property?.about;
  if (about?.port === undefined || about.part !== undefined) return false;
  const isBehind = (node: NodeName): boolean =>
    doormenOn(desired, node).some(
      ({ port, placements }) => port === about.port && placements.some((one) => one.name === name),
    );
  return !nodes.some(isBehind);
}

/** The account that something needs: a tree only where one builds or fetches it. */
function accountFor({ kind, name }: AddressParts, { system, runtimes, models }: DesiredFleet): string | undefined {
  const { ranks, gateway } = system.accounts;
  switch (kind) {
    case 'doorman':
      return gateway;
    case 'runtime':
      return runtimes.find((one) => one.name === name)?.driver === 'mlx' ? ranks : undefined;
    case 'model':
      return models.find((one) => one.name === name)?.source.kind === 'url' ? ranks : undefined;
    default:
      return ranks;
  }
}

/**
 * Whether a later property depends on an earlier thing that is on its nodes. A placement needs its own runtime, its
 * own model, its own account, and what joins its own members, whatever becomes of others there; everything else needs all
 * of it.
 */
export function isUsedBy(later: AddressParts, earlier: Earlier, desired: DesiredFleet): boolean {
  const name = later.kind === 'placement' ? later.placement : undefined;
  const placement = desired.placements.find((one) => one.name === name);
  if (earlier.kind === 'doorman') return isLeftBy(name, earlier, desired);
  const about = earlier.property?.about;
  if (earlier.kind === 'accounts' && about !== undefined) return about.name === accountFor(later, desired);
  if (placement === undefined) {
    return true;
  }
  switch (earlier.kind) {
    case 'runtime':
      return about === undefined || (about.name === placement.runtime && about.part === undefined);
    case 'model':
      return about === undefined || about.name === placement.model;
    case 'thunderbolt-link':
      return earlier.nodes.filter((node) => placement.nodes.includes(node)).length > 1;
    case 'link-address':
      return about === undefined || isBetweenMembers(desired, placement, earlier);
    default:
      return true;
  }
}
