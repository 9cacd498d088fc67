import type { LinkEnd } from '../../model/link.ts';
import type { NodeName } from '../../model/node.ts';
import { type Cable, farEnd, type HangingCable } from './cables/cables.ts';
import type { MacState, ReceptacleState } from './mac.ts';

/** All simulated Macs, the cables between them, and which Mac answers at which node's address. */
export interface SimulatedFleet {
  /** Sorted by name; one per node of the file. */
  readonly macs: readonly MacState[];
  readonly cables: readonly Cable[];
  /** Cables that are plugged in at one end only: nobody sees those. */
  readonly hanging: readonly HangingCable[];
  /** Macs that no file names, each at the end of some cable. Nobody reaches them over SSH. */
  readonly strangers: readonly MacState[];
  /** Nodes whose address leads to the Mac of another node. */
  readonly misdirected: Readonly<Record<string, NodeName>>;
}

/** The Mac that belongs to this node, wherever the node's address leads; undefined for a name that is not in the file. */
export const macNamed = (fleet: SimulatedFleet, node: string): MacState | undefined =>
  fleet.macs.find((mac) => mac.name === node);

/**
 * The Mac that answers at this node's address: what the ssh server and every tool there must show. The host key and
 * a broken connection belong to the address, everything else to the Mac.
 */
export function macBehind(fleet: SimulatedFleet, node: string): MacState | undefined {
  const own = macNamed(fleet, node);
  const other = Object.hasOwn(fleet.misdirected, node) ? fleet.misdirected[node] : undefined;
  const answering = other === undefined ? undefined : macNamed(fleet, other);
  if (own === undefined || answering === undefined) return own;
  return { ...answering, connection: { ...own.connection, filevault: answering.connection.filevault } };
}

/** The receptacle of this number. */
export const receptacleOf = (mac: MacState, number: number): ReceptacleState | undefined =>
  mac.receptacles.find((receptacle) => receptacle.number === number);

/** Mac and receptacle at one end of a cable. */
export interface Seen {
  readonly mac: MacState;
  readonly receptacle: ReceptacleState;
}

/** The Mac at the end of a cable, in the rack or outside of it. */
const macAtCable = (fleet: SimulatedFleet, { node }: LinkEnd): MacState | undefined =>
  macNamed(fleet, node) ?? fleet.strangers.find(({ name }) => name === node);

/** How fast a link over this cable is: as fast as its slowest part. */
export const linkSpeed = (fleet: SimulatedFleet, { ends, gigabitsPerSecond }: Cable): Cable['gigabitsPerSecond'] =>
  ends.every((end) => macAtCable(fleet, end)?.model.thunderbolt === 5) ? gigabitsPerSecond : 40;

/** What a Mac sees at the far end of the cable in this receptacle; undefined when none is plugged in. */
export function peerAt(fleet: SimulatedFleet, end: LinkEnd): Seen | undefined {
  const far = farEnd(fleet.cables, end);
  const mac = far === undefined ? undefined : macAtCable(fleet, far);
  const receptacle = far === undefined || mac === undefined ? undefined : receptacleOf(mac, far.receptacle);
  return mac === undefined || receptacle === undefined ? undefined : { mac, receptacle };
}

/** The fleet with one Mac changed; the very same fleet when the change gives the same Mac. */
export function withMac(fleet: SimulatedFleet, node: string, change: (mac: MacState) => MacState): SimulatedFleet {
  const macs = fleet.macs.map((mac) => (mac.name === node ? change(mac) : mac));
  return macs.every((mac, index) => mac === fleet.macs[index]) ? fleet : { ...fleet, macs };
}
