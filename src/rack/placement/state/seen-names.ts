import type { CheckedMac, SeenNames } from '../../../drivers/contract/driver.ts';
import type { Facts, Route } from '../../../model/facts/fact-values.ts';
import type { NodeName } from '../../../model/node.ts';
import { read, readValue } from '../../fact.ts';
import { foreignDaemonsFact } from '../../foreign-daemon/fact.ts';
import { interfacesFact, routesFact } from '../../network/interfaces-fact.ts';
import { thunderboltInterfaces } from '../../network/thunderbolt-interfaces.ts';
import { treesFact } from '../../records/trees-fact.ts';
import type { View } from '../../resource.ts';
import { firewall } from '../../settings/firewall.ts';

/** What the checks of drivers ask of a Mac; undefined for a node that was not observed. */
export const checkedMac = (facts: Facts | undefined): CheckedMac | undefined =>
  facts && {
    trees: read(facts, treesFact),
    foreignDaemons: read(facts, foreignDaemonsFact),
    firewall: read(facts, firewall.fact),
  };

/** What the observed nodes call things today. */
export const seenNames = ({ observation: { nodes } }: Pick<View, 'observation'>): SeenNames =>
  namesBy((node) => nodes[node]?.facts);

/** The same for any nodes of which somebody has facts; a device counts where its node has it as an RDMA device. */
export function namesBy(factsOf: (node: NodeName) => Facts | undefined): SeenNames {
  return {
    device: ({ node, receptacle }) => {
      const facts = factsOf(node);
      const device = facts === undefined ? undefined : thunderboltInterfaces(facts)?.get(receptacle);
      return device === undefined ? undefined : `rdma_${device}`;
    },
    lan: (node) => lanAddress(factsOf(node)),
  };
}

/**
 * The IPv4 address of a node in the office network: of the interface over which it was asked, else of the one that its
 * default route leaves by. Undefined where nobody could see it.
 */
function lanAddress(facts: Facts | undefined): string | undefined {
  const interfaces = readValue(facts, interfacesFact);
  const carrier = interfaces?.find(({ carriesConnection }) => carriesConnection === true);
  const routes = readValue(facts, routesFact);
  const device = routes && defaultDevice(routes);
  const found = carrier ?? interfaces?.find(({ name, isUp }) => isUp && name === device);
  return found?.ipv4[0]?.address;
}

/** Of several default routes the one that is not bound to its interface counts. @see netstat(1), flag I */
const defaultDevice = (routes: readonly Route[]): string | undefined =>
  routes
    .filter(({ destination }) => destination.address === '0.0.0.0' && destination.prefixLength === 0)
    .toSorted((a, b) => Number(a.flags.includes('I')) - Number(b.flags.includes('I')))[0]?.device;
