import type { Wiring } from '../../model/wiring.ts';
import { createTurns } from '../turns.ts';
import type { Ground } from './ground.ts';

/**
 * Lays the office network and the cables of a fleet: every node gets its interfaces for good, and what is plugged in decides which of their
 * outer ends meet. So a pulled cable takes the carrier away at both ends and nothing else, as on a Mac.
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
    /** Of a node, in the office network. */
    addressOf: (node: string): string => wiringOf(node).lan.address,
    /** A Mac without current is silent, and the far ends of its cables see nobody. */
    setPower: async (node: string, isPowered: boolean): Promise<void> => {
      if (isPowered) powered.add(node);
      else powered.delete(node);
      await update();
    },
    /** Makes cables, speeds and addresses be as the model has them; only what differs is touched. */
    update,
  };
}

/** One node as the network of the fleet has it. */
export interface NetworkNode {
  readonly name: string;
  readonly wiring: Wiring;
  /** Whether the Mac has current: without, its interfaces and its cables are dead. */
  readonly isPowered: boolean;
}

/** The address of the controller in the office network; 198.18.0.0/15 is set aside for tests (RFC 2544). */
const controllerAddress = '198.19.255.254';

/** The bridge that stands for the office network. */
const office = 'office';

/** Jumbo frames, as on a cable between two Macs. */
const cableMtu = 9000;

/**
 * How many megabits stand for a gigabit of a cable: 80 Gb/s become 800 Mb/s, which this machine can move without being
 * busy with it, and a slow cable stays half as fast as a good one.
 */
const megabitsPerGigabit = 10;

/** Room for one burst of segmented packets, and how long a packet may wait. */
const bucket = 'burst 256kb latency 50ms';

/** Smaller than any packet: everything is dropped while the link stays up. */
const nothing = 'tbf rate 8bit burst 1b limit 1b';

/** Outer ends: one per node for the office, one per receptacle for the cables. Names of interfaces have 15 bytes. */
const officePort = (at: number): string => `o${at}`;
const cablePort = (at: number, device: string): string => `c${at}${device}`;

const words = (...lines: readonly string[]): string => lines.join('\n');

/** What makes the network of so many nodes, with nothing plugged in and nobody powered. */
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

/** Everybody in the office reaches everybody there; nothing leads any further. */
function layRoutes({ name, wiring: { lan } }: NetworkNode, at: number, nodes: readonly NetworkNode[]): string {
  const others = nodes.filter((_, index) => index !== at).map((other) => other.wiring.lan.address);
  return words(
    `ip route add ${lan.address}/32 dev ${office}`,
    ...[controllerAddress, ...others].map((address) => `ip -n ${name} route add ${address}/32 dev ${lan.device}`),
  );
}

/** One setting of the network: what it is about, what it shall be, and the commands that make it so. */
interface Setting {
  readonly about: string;
  readonly value: string;
  readonly commands: string;
}

/** Which bridge two ends of a cable meet on: named after the end that comes first. */
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

/** Everything about the network that can change while it is there. The order of the nodes is that of `layNetwork`. */
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
  // A Mac outside of the rack answers nothing, but its port is up.
  const isLive = far !== undefined && isPowered && nodes[farAt]?.isPowered !== false;
  const farPort = far === undefined || farAt < 0 ? port : cablePort(farAt, far.device);
  const gigabits = isSilent ? 'nothing' : (far?.gigabitsPerSecond ?? 'nothing');
  return [
    addressed(name, device, address === undefined ? '' : `${address.address}/${address.prefixLength}`),
    ...(far === undefined ? [] : [paced(name, device, port, gigabits)]),
    plugged(port, isLive ? farPort : undefined),
  ];
}
