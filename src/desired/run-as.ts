import type { DesiredFleet, DesiredNode } from '../model/desired.ts';
import type { NodeName } from '../model/node.ts';
import { layoutsOf } from './fallback.ts';

/** The account that runs the ranks of a node; undefined is the ssh user. */
export const ranksUser = ({ system }: DesiredFleet, { user }: DesiredNode): string | undefined =>
  system.accounts.ranks ?? user;

/** The account that runs the gateways of a node; undefined is the ssh user. */
export const gatewayUser = ({ system }: DesiredFleet, { user }: DesiredNode): string | undefined =>
  system.accounts.gateway ?? user;

/** Whether a gateway stands on a node: the node leads a published placement, in its place or on its fallback. */
const hasGateway = ({ placements }: DesiredFleet, node: NodeName): boolean =>
  placements
    .flatMap(layoutsOf)
    .some(({ publication, nodes: [leader] }) => publication !== undefined && leader === node);

/** The accounts that a node needs: one for ranks on every node, one for the gateway only where a gateway stands. */
export const accountsOn = (fleet: DesiredFleet, node: NodeName): readonly string[] =>
  [fleet.system.accounts.ranks, hasGateway(fleet, node) ? fleet.system.accounts.gateway : undefined].flatMap(
    (one) => one ?? [],
  );
