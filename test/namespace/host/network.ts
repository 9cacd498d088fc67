import { createTurns } from '../../../src/sim/hosts/turns.ts';
import { megabitsPerGigabit } from '../../../src/sim/model/cables.ts';
import type { Wiring } from '../../../src/sim/model/wiring.ts';
import type { Ground } from './ground.ts';

/**
 * Creates a fleet's office network and cables. Every node keeps its interfaces; the cabling determines which of their
 * outer ends are connected. A pulled cable removes only the carrier at both ends, as on a Mac.
 */
export async function openNetwork(ground: Ground, names: readonly string[], wiringOf: (node: string) => Wiring) {
  const powered = new Set<string>();
  const known = new Map<string, string>();
  const turn = createTurns();
  const nodes = (): readonly NetworkNode[] =>
    names.map((name) => ({ name, wiring: wiringOf(name), isPowered: powered.has(name) }));
  const update = (): Promise<void> =>
    turn(async () => {
      const changed = networkSettings(nodes()).filter(({ about, value }) => known.get(about) !== value);
      if (changed.length === 0) return;
      await ground.run(changed.map(({ commands }) => commands).join('\n'));
      for (const { about, value } of changed) known.set(about, value);
    });
  await ground.run(layNetwork(nodes()));
  await update();
  return {
    addressOf: (node: string): string => wiringOf(node).lan.address,
    /** A Mac without power is silent, and the far ends of its cables have no carrier. */
    setPower: async (node: string, isPowered: boolean): Promise<void> => {
      if (isPowered) powered.add(node);
      else powered.delete(node);
      await update();
    },
    /** Makes cables, speeds and addresses match the model; changes only what differs. */
    update,
  };
}

/** The network of one node. */
export interface NetworkNode {
  readonly name: string;
  readonly wiring: Wiring;
  /** True if the Mac has power; without power, its interfaces and cables are dead. */
  readonly isPowered: boolean;
}

/** The controller's address in the office network; 198.18.0.0/15 is reserved for tests (RFC 2544). */
const controllerAddress = '198.19.255.254';

const office = 'office';

/** Jumbo frames, as on a cable between two Macs. */
const cableMtu = 9000;

/** The size of one burst of segmented packets, and a packet's longest wait. */
const bucket = 'burst 256kb latency 50ms';

/** Smaller than any packet: drops everything while the link stays up. */
const nothing = 'tbf rate 8bit burst 1b limit 1b';

/**
 * Outer ends of interfaces: one per node for the office, one per receptacle for the cables. Interface names have at
 * most 15 bytes.
 */
const officePort = (at: number): string => `o${at}`;
const cablePort = (at: number, device: string): string => `c${at}${device}`;

const words = (...lines: readonly string[]): string => lines.join('\n');

/** The commands that create the network for these nodes, without cables and without power. */
function layNetwork(nodes: readonly NetworkNode[]): string {
  const office0 = words(
    `ip link add ${office} type bridge forward_delay 0 mcast_snooping 0`,
    `ip addr add ${controllerAddress}/32 dev ${office}`,
    `ip link set ${office} up`,
    'ip link set lo up',
  );
  return words(office0, ...nodes.map(layNode), ...nodes.map((node, at) => layRoutes(node, at, nodes)));
}

function layNode({ name, wiring: { lan, receptacles } }: NetworkNode, at: number): string {
  return words(
    `ip netns add ${name}`,
    `ip -n ${name} link set lo up`,
    `ip link add ${officePort(at)} type veth peer name ${lan.device} netns ${name}`,
    `ip link set ${officePort(at)} master ${office}`,
    `ip -n ${name} link set ${lan.device} up`,
    `ip -n ${name} addr add ${lan.address}/32 dev ${lan.device}`,
    ...receptacles.map(({ device }) =>
      words(
        `ip link add ${cablePort(at, device)} mtu ${cableMtu} type veth peer name ${device} mtu ${cableMtu} netns ${name}`,
        `ip -n ${name} link set ${device} up`,
      ),
    ),
  );
}

/** Routes every node to all others in the office; there is no route to the outside. */
function layRoutes({ name, wiring: { lan } }: NetworkNode, at: number, nodes: readonly NetworkNode[]): string {
  const others = nodes.filter((_, index) => index !== at).map((other) => other.wiring.lan.address);
  return words(
    `ip route add ${lan.address}/32 dev ${office}`,
    ...[controllerAddress, ...others].map((address) => `ip -n ${name} route add ${address}/32 dev ${lan.device}`),
  );
}

/** One setting of the network: its subject, its desired value, and the commands that set it. */
interface Setting {
  readonly about: string;
  readonly value: string;
  readonly commands: string;
}

/** The bridge that connects two cable ends, named after the first one in sort order. */
const cableBridge = (one: string, other: string): string => `b${[one, other].sort()[0]}`;

function plugged(port: string, far: string | undefined): Setting {
  const about = `plug ${port}`;
  if (far === undefined) return { about, value: 'out', commands: `ip link set ${port} down nomaster` };
  const bridge = cableBridge(port, far);
  return {
    about,
    value: bridge,
    commands: words(
      `ip link add ${bridge} mtu ${cableMtu} type bridge forward_delay 0 mcast_snooping 0 2>/dev/null || :`,
      `ip link set ${bridge} up`,
      `ip link set ${port} nomaster`,
      `ip link set ${port} master ${bridge} up`,
    ),
  };
}

function paced(node: string, device: string, port: string, gigabits: number | 'nothing'): Setting {
  const qdisc = gigabits === 'nothing' ? nothing : `tbf rate ${gigabits * megabitsPerGigabit}mbit ${bucket}`;
  return {
    about: `pace ${port}`,
    value: String(gigabits),
    commands: words(
      `tc qdisc replace dev ${port} root ${qdisc}`,
      `tc -n ${node} qdisc replace dev ${device} root ${qdisc}`,
    ),
  };
}

const addressed = (node: string, device: string, address: string): Setting => ({
  about: `address ${node} ${device}`,
  value: address,
  commands: words(
    `ip -n ${node} -4 addr flush dev ${device}`,
    ...(address === '' ? [] : [`ip -n ${node} addr add ${address} dev ${device}`]),
  ),
});

/** All changeable settings of the network, with the nodes in the same order as in `layNetwork`. */
export function networkSettings(nodes: readonly NetworkNode[]): readonly Setting[] {
  return nodes.flatMap(({ name, wiring, isPowered }, at): readonly Setting[] => {
    const port = officePort(at);
    const power = isPowered ? 'up' : 'down';
    const office0: Setting = { about: `office ${port}`, value: power, commands: `ip link set ${port} ${power}` };
    return [office0, ...wiring.receptacles.flatMap((one) => receptacleSettings(name, at, one, { nodes, isPowered }))];
  });
}

function receptacleSettings(
  name: string,
  at: number,
  { device, address, far, isSilent }: Wiring['receptacles'][number],
  { nodes, isPowered }: { readonly nodes: readonly NetworkNode[]; readonly isPowered: boolean },
): readonly Setting[] {
  const port = cablePort(at, device);
  const farAt = nodes.findIndex((node) => node.name === far?.mac);
  // A Mac outside the rack never responds, but its port is up.
  const isLive = far !== undefined && isPowered && nodes[farAt]?.isPowered !== false;
  const farPort = far === undefined || farAt < 0 ? port : cablePort(farAt, far.device);
  const gigabits = isSilent ? 'nothing' : (far?.gigabitsPerSecond ?? 'nothing');
  return [
    addressed(name, device, address === undefined ? '' : `${address.address}/${address.prefixLength}`),
    ...(far === undefined ? [] : [paced(name, device, port, gigabits)]),
    plugged(port, isLive ? farPort : undefined),
  ];
}
