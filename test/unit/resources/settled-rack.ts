import { endAddresses } from '../../../src/desired/links/link-addresses.ts';
import type { FactValues } from '../../../src/engine/observe/facts.ts';
import type { DesiredFleet, Ipv4Network } from '../../../src/model/desired.ts';
import type { NetworkInterface } from '../../../src/model/facts/fact-values.ts';
import type { Link } from '../../../src/model/link.ts';
import { desiredFleet, healthyFacts, links, meshOfFour, receptacles } from '../doctor/fleet-builder.ts';

/** `10.77.0.4/30` for the second link, and so on. */
const networkOf = (index: number): Ipv4Network => ({ address: `10.77.0.${index * 4}`, prefixLength: 30 });

const meshLinks = links(meshOfFour);

/** The fleet of four with the /30 of each of its links, as the lock has them. */
export function settledFleet(changes: Partial<DesiredFleet> = {}): DesiredFleet {
  const fleet = desiredFleet();
  const networks = Object.fromEntries(meshLinks.map(({ index }) => [index, networkOf(index)]));
  return { ...fleet, thunderbolt: { ...fleet.thunderbolt, networks }, ...changes };
}

function addressAt(name: string, receptacle: number): string | undefined {
  const all = meshLinks.flatMap(({ ends, index }: Link) => endAddresses(ends, networkOf(index)));
  return all.find(({ end }) => end.node === name && end.receptacle === receptacle)?.address;
}

function withAddress(one: NetworkInterface, name: string): NetworkInterface {
  const receptacle = Number(/^en([2-7])$/.exec(one.name)?.[1] ?? Number.NaN) - 1;
  const address = addressAt(name, receptacle);
  if (one.status !== 'active' || Number.isNaN(receptacle)) return one;
  // A cable that no link names has what macOS gives it.
  const own = { address: `169.254.9.${receptacle}`, prefixLength: 16 };
  return { ...one, ipv4: [address === undefined ? own : { address, prefixLength: 30 }] };
}

/** The facts of a node to which nothing is left to be done: fixed addresses on every link, kept by services. */
export function settledFacts(name: string, cables: readonly string[] = meshOfFour): FactValues {
  const own = receptacles(name, 6, cables);
  const facts = healthyFacts(name, own);
  const ethernet = { name: 'Ethernet', port: 'Ethernet', device: 'en0', isEnabled: true };
  const ports = own.map(({ receptacle }) => ({ port: `Thunderbolt ${receptacle}`, device: `en${receptacle + 1}` }));
  return {
    ...facts,
    interfaces: facts.interfaces.map((one) => withAddress(one, name)),
    'network-services': [ethernet, ...ports.map((one) => ({ name: one.port, ...one, isEnabled: true }))],
    'rdma-ports': facts['rdma-ports'].map((port) => {
      const address = addressAt(name, Number(port.device.replace('rdma_en', '')) - 1);
      const hasGid = port.state === 'active' && address !== undefined;
      const mapped = hasGid ? [{ index: 1, gid: `::ffff:${address}`, ipv4: address }] : [];
      return { ...port, gids: [{ index: 0, gid: 'fe80::1' }, ...mapped] };
    }),
    'service-addresses': own.map(({ receptacle }) => {
      const address = addressAt(name, receptacle);
      const about = { service: `Thunderbolt ${receptacle}`, device: `en${receptacle + 1}` };
      return address === undefined
        ? { ...about, method: 'dhcp' as const }
        : { ...about, method: 'manual' as const, address: { address, prefixLength: 30 } };
    }),
  };
}

/** All four, for the changes of a test to be laid over. */
export const settledValues = (cables?: readonly string[]): Readonly<Record<string, FactValues>> =>
  Object.fromEntries(
    ['studio-1', 'studio-2', 'studio-3', 'studio-4'].map((name) => [name, settledFacts(name, cables)]),
  );
