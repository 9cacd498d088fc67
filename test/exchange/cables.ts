import { endAddresses, parseLink } from '../../src/desired/addresses.ts';
import { digest } from '../../src/model/digest.ts';
import type { Link } from '../../src/model/node.ts';
import { type NodeName, nodeName } from '../../src/model/node.ts';
import type { PeerPlan } from '../../src/model/node-script.ts';
import { fanOut } from '../../src/rack/artifacts/peers/fan-out.ts';

/** Macs that are all cabled to each other, or that share a switch with one network interface each, also with SSH. */
export interface Topology {
  readonly kind: 'mesh' | 'switch' | 'ssh';
  readonly macs: number;
  /** The rate of each cable, in each direction; without one, this machine is the limit. */
  readonly megabits?: number;
  /** Cables with other rates, by the numbers of their Macs. The first Mac has number 1. */
  readonly slow?: readonly { readonly between: readonly [number, number]; readonly megabits: number }[];
  /** The Macs that have the model, by default the first. */
  readonly seeds?: readonly number[];
}

export const macName = (number: number): NodeName => nodeName(`studio-${number}`);
const numbersOf = ({ macs }: Topology): readonly number[] => Array.from({ length: macs }, (_, at) => at + 1);
const seedsOf = ({ seeds }: Topology): readonly number[] => seeds ?? [1];

/** Cables of a full mesh, each with its own /30, like those that the product allocates. */
const meshCables = (topology: Topology) =>
  (topology.kind === 'mesh' ? numbersOf(topology) : [])
    .flatMap((one, _, all) => all.flatMap((other) => (one < other ? [[one, other] as const] : [])))
    .map((macs, index) => {
      const [one, other] = macs;
      const ends = parseLink(`studio-${one}:${other} <-> studio-${other}:${one}`);
      if (ends === undefined) throw new Error('no link');
      const network = { address: `10.77.0.${4 * index}`, prefixLength: 30 };
      return { macs, link: { index, ends } satisfies Link, network, ends: endAddresses(ends, network) };
    });

export const switchAddress = (number: number | NodeName): string => `10.78.0.${`${number}`.replace('studio-', '')}`;
const port = 12_345;

/** The plan of each Mac: from the product, or on a switch without SSH a chain from the Mac with the model to the last. */
export function plansOf(topology: Topology): readonly PeerPlan[] {
  const macs = numbersOf(topology);
  const seeds = seedsOf(topology).map(macName);
  if (topology.kind !== 'switch') {
    const cables = meshCables(topology);
    const receivers = macs.map(macName).filter((name) => !seeds.includes(name));
    const networks = Object.fromEntries(cables.map(({ link, network }) => [link.index, network]));
    const links = cables.map(({ link }) => ({ link, judgement: { kind: 'as-declared' } as const }));
    const wish = { digest: digest('ab'.repeat(32)), receivers, seeds, downloaders: receivers };
    const plans = fanOut({ thunderbolt: { networks } }, links, wish);
    return macs.flatMap((number) => plans.get(macName(number)) ?? []);
  }
  return macs.map((number) => ({
    self: macName(number),
    role: number === 1 ? 'serve' : 'receive',
    mode: 'chain',
    port,
    stripe: { at: 0, of: 1 },
    listen: [switchAddress(number)],
    sources: macs
      .filter((one) => one < number)
      .toReversed()
      .map((one) => ({ node: macName(one), address: switchAddress(one), isOrigin: one === 1 })),
    feeds: macs.filter((one) => one > number).map(macName),
  }));
}

/** As long as a tenth of a second of a cable can be late: a short queue, and one burst of segmented packets. */
const paced = (megabits: number | undefined): string =>
  megabits === undefined ? 'noqueue' : `tbf rate ${megabits}mbit burst 256kb latency 50ms`;

/** The commands that create the Macs' network. */
export function layCables(topology: Topology): string {
  const macs = numbersOf(topology).flatMap((number) => [
    `ip netns add ${macName(number)}`,
    `ip -n ${macName(number)} link set lo up`,
  ]);
  return [...macs, ...(topology.kind === 'mesh' ? layMesh(topology) : laySwitch(topology))].join('\n');
}

const layMesh = (topology: Topology): readonly string[] =>
  meshCables(topology).flatMap(({ macs, ends }) => {
    const slow = topology.slow?.find(({ between }) => between.every((one) => macs.includes(one)));
    const rate = paced(slow?.megabits ?? topology.megabits);
    const [one, other] = ends.map(({ end }) => ({ node: end.node, device: `en${end.receptacle}` }));
    return [
      `ip link add ${one?.device} mtu 9000 netns ${one?.node} type veth peer name ${other?.device} mtu 9000 netns ${other?.node}`,
      ...ends.flatMap(({ end, address }) => [
        `ip -n ${end.node} addr add ${address}/30 dev en${end.receptacle}`,
        `ip -n ${end.node} link set en${end.receptacle} up`,
        `tc -n ${end.node} qdisc add dev en${end.receptacle} root ${rate}`,
      ]),
    ];
  });

const laySwitch = (topology: Topology): readonly string[] => [
  'ip link add office type bridge forward_delay 0 mcast_snooping 0',
  'ip link set office up',
  ...numbersOf(topology).flatMap((number) => {
    const name = macName(number);
    return [
      `ip link add o${number} type veth peer name en0 netns ${name}`,
      `ip link set o${number} master office up`,
      `ip -n ${name} addr add ${switchAddress(number)}/24 dev en0`,
      `ip -n ${name} link set en0 up`,
      `tc qdisc add dev o${number} root ${paced(topology.megabits)}`,
      `tc -n ${name} qdisc add dev en0 root ${paced(topology.megabits)}`,
    ];
  }),
];
