import type { DesiredFleet, DesiredPlacement } from '../model/desired.ts';
import type { NodeName } from '../model/node.ts';
import { doormenOn } from '../resources/doormen.ts';
import type { Property } from '../resources/resource.ts';

/** Something that may stand in the way of later properties, and where. */
export interface Earlier {
  /** The kind of its resource. */
  readonly kind: string;
  /** One property of its kind; all of them on its nodes when absent. */
  readonly address?: string;
  readonly nodes: readonly NodeName[];
}

/** Whether a receptacle of a member is joined to another member. */
function isBetweenMembers({ thunderbolt }: DesiredFleet, { nodes }: DesiredPlacement, earlier: Earlier): boolean {
  const receptacle = Number(earlier.address?.split('/')[1]);
  const link = thunderbolt.links.find(({ ends }) =>
    ends.some((end) => end.receptacle === receptacle && earlier.nodes.includes(end.node)),
  );
  return link?.ends.every(({ node }) => nodes.includes(node)) ?? false;
}

/** Whether it is a doorman before which the file does not have this placement: what is left is ended before its ranks. */
function isLeftBy(name: string | undefined, { address, nodes }: Earlier, desired: DesiredFleet): boolean {
  const digits = address === undefined ? undefined : /^doorman\/(\d+)$/.exec(address)?.[1];
  if (digits === undefined) return false;
  const isBehind = (node: NodeName): boolean =>
    doormenOn(desired, node).some(
      ({ port, placements }) => port === Number(digits) && placements.some((one) => one.name === name),
    );
  return !nodes.some(isBehind);
}

/** The account that something needs: a tree only where one builds or fetches it. */
function accountFor(address: string, { system, runtimes, models }: DesiredFleet): string | undefined {
  const [kind, name] = address.split('/');
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
export function isUsedBy({ address }: Pick<Property, 'address'>, earlier: Earlier, desired: DesiredFleet): boolean {
  const name = /^placement\/([^/]+)/.exec(address)?.[1];
  const placement = desired.placements.find((one) => one.name === name);
  if (earlier.kind === 'doorman') return isLeftBy(name, earlier, desired);
  if (earlier.kind === 'accounts' && earlier.address !== undefined) {
    return earlier.address === `accounts/${accountFor(address, desired)}`;
  }
  if (placement === undefined) {
    return true;
  }
  switch (earlier.kind) {
    case 'runtime':
      return earlier.address === undefined || earlier.address === `runtime/${placement.runtime}`;
    case 'model':
      return earlier.address === undefined || earlier.address === `model/${placement.model}`;
    case 'thunderbolt-link':
      return earlier.nodes.filter((node) => placement.nodes.includes(node)).length > 1;
    case 'link-address':
      return earlier.address === undefined || isBetweenMembers(desired, placement, earlier);
    default:
      return true;
  }
}
