import type { CheckedMac, SeenNames } from '../../../drivers/contract/driver.ts';
import type { Facts, Route } from '../../../model/facts/fact-values.ts';
import { mapKnown } from '../../../model/known.ts';
import type { NodeName } from '../../../model/node.ts';
import { read, readValue } from '../../fact.ts';
import { foreignDaemonsFact } from '../../foreign-daemon/fact.ts';
import { macosVersionFact } from '../../macos/fact.ts';
import { interfacesFact, routesFact } from '../../network/interfaces-fact.ts';
import { thunderboltInterfaces } from '../../network/interfaces-reading.ts';
import { treesFact } from '../../records/trees-fact.ts';
import type { View } from '../../resource.ts';
import { firewall } from '../../settings/firewall.ts';

/** The facts about a Mac that driver checks need; undefined if the Mac was not observed. */
export const checkedMac = (facts: Facts | undefined): CheckedMac | undefined =>
  facts && {
    trees: read(facts, treesFact),
    foreignDaemons: read(facts, foreignDaemonsFact),
    firewall: read(facts, firewall.fact),
    macos: mapKnown(read(facts, macosVersionFact), ({ version }) => version),
  };

export const seenNames = ({ observation: { nodes } }: Pick<View, 'observation'>): SeenNames =>
  namesBy((node) => nodes[node]?.facts);

export function namesBy(factsOf: (node: NodeName) => Facts | undefined): SeenNames {
  return {
    device: ({ node, receptacle }) => {
      const device = thunderboltInterfaces(factsOf(node))?.get(receptacle);
      return device === undefined ? undefined : `rdma_${device}`;
    },
    lan: (node) => lanAddress(factsOf(node)),
  };
}

/** A node's IPv4 address in the office network, by the connection's interface, otherwise the default route. */
function lanAddress(facts: Facts | undefined): string | undefined {
  const interfaces = readValue(facts, interfacesFact);
  const carrier = interfaces?.find(({ carriesConnection }) => carriesConnection === true);
  const routes = readValue(facts, routesFact);
  const device = routes && defaultDevice(routes);
  const found = carrier ?? interfaces?.find(({ name, isUp }) => isUp && name === device);
  return found?.ipv4[0]?.address;
}

/** Among several default routes, one that is not bound to its interface comes first. @see netstat(1), flag I */
const defaultDevice = (routes: readonly Route[]): string | undefined =>
  routes
    .filter(({ destination }) => destination.address === '0.0.0.0' && destination.prefixLength === 0)
    .toSorted((a, b) => Number(a.flags.includes('I')) - Number(b.flags.includes('I')))[0]?.device;
