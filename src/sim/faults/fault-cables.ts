import { type LinkEnd, linkEndText } from '../../model/node.ts';
import { type Cable, cableAt, farEnd, isFree, isSameEnd, plugged, withSwap } from '../model/cables.ts';
import { linkSpeed, macNamed, type SimulatedFleet, withMac } from '../model/fleet.ts';
import { isBridged } from '../model/network.ts';
import { strangerLike } from '../simulate-fleet.ts';
import { aims, defineFault, type Fault, lastFree } from './fault.ts';

/** The plugged-in and hanging cables. Moving plugs can clear a cabling fault, in any order. */
const cablesOf = ({ cables, hanging }: SimulatedFleet): unknown => [
  plugged(cables),
  hanging.map(({ end }) => linkEndText(end)).sort(),
];

const defineCabling = <T>(...[summary, aim, change]: Parameters<typeof defineFault<T>>): Fault =>
  defineFault(summary, aim, change, cablesOf);

const withoutCable = (cables: readonly Cable[], end: LinkEnd): readonly Cable[] =>
  cables.filter((cable) => !cable.ends.some((one) => isSameEnd(one, end)));

const withCable = (fleet: SimulatedFleet, ends: Cable['ends']): SimulatedFleet => ({
  ...fleet,
  cables: [...fleet.cables, { ends, gigabitsPerSecond: 80 }],
});

/** Defines a fault that changes the cable in this receptacle. */
const ofCable = (
  summary: string,
  change: (cable: Cable, fleet: SimulatedFleet, end: LinkEnd) => Partial<Cable> | string,
): Fault =>
  defineCabling(summary, aims.cable, (fleet, end) => {
    const cable = cableAt(fleet.cables, end);
    if (cable === undefined) return 'the receptacle has no cable';
    const changed = change(cable, fleet, end);
    if (typeof changed === 'string') return changed;
    return { ...fleet, cables: fleet.cables.map((one): Cable => (one === cable ? { ...one, ...changed } : one)) };
  });

const defineDock = (summary: string, isBlind: boolean): Fault =>
  ofCable(summary, (cable, _, end) =>
    cable.dock === undefined ? { dock: { at: end, isBlind } } : 'the cable already has a dock',
  );

export const cableFaults = {
  'cable-extra': defineCabling(
    'an additional cable between two free receptacles that the file does not declare',
    aims.freePair,
    (fleet, [one, other]) => {
      const taken = [one, other].find((end) => !isFree(fleet, end));
      if (taken !== undefined) return `${linkEndText(taken)} is not free`;
      return isSameEnd(one, other) ? 'both ends are the same receptacle' : withCable(fleet, [one, other]);
    },
  ),

  'cable-doubled': defineCabling(
    'a second cable between the same two Macs, in their last free receptacles',
    aims.cable,
    (fleet, end) => {
      const far = farEnd(fleet.cables, end);
      const [one, other] = [end, far].map((at) => (at === undefined ? undefined : lastFree(fleet, at.node)));
      if (one === undefined || other === undefined) return 'one of the two Macs has no free receptacle';
      return isSameEnd(one, other) ? 'the Mac has only one free receptacle' : withCable(fleet, [one, other]);
    },
  ),

  'cable-foreign': defineCabling(
    'the cable in this receptacle goes to a Mac that is not in the file',
    aims.receptacle,
    (fleet, end) => {
      const mac = macNamed(fleet, end.node);
      if (mac === undefined) return 'the Mac does not exist';
      const stranger = strangerLike(mac, fleet.strangers.length + 1);
      const far: LinkEnd = { node: stranger.name, receptacle: 1 };
      const free = { ...fleet, cables: withoutCable(fleet.cables, end), strangers: [...fleet.strangers, stranger] };
      return withCable(free, [end, far]);
    },
  ),

  /** A dock at this end of a cable: this end sees the peer one level deeper, the other end sees it directly. */
  'hub-between': defineDock('a dock is in between: this end sees the far Mac behind the dock', false),

  'hub-hides-peer': defineDock('a dock is in between: this end sees only the dock, not the far Mac', true),

  'cable-swapped': defineCabling(
    'two cable ends are exchanged: both receptacles see the wrong neighbor',
    aims.twoReceptacles,
    (fleet, [one, other]) => {
      const first = cableAt(fleet.cables, one);
      if (isSameEnd(one, other)) return 'both ends are the same receptacle';
      if (first === undefined && cableAt(fleet.cables, other) === undefined) return 'neither receptacle has a cable';
      if (first?.ends.every((end) => isSameEnd(end, one) || isSameEnd(end, other)))
        return 'both ends belong to the same cable';
      return { ...fleet, cables: withSwap(fleet, one, other).cables };
    },
  ),

  'cable-missing': defineCabling(
    'the cable is not plugged in: both receptacles are free',
    aims.cable,
    (fleet, end) => ({ ...fleet, cables: withoutCable(fleet.cables, end) }),
  ),

  /**
   * Seen on two M3 Ultras after a re-enumeration: the address stayed on an interface without a carrier, and macOS used a
   * slow USB-NCM path (avlp12/two-macstudio-m3u, 2026-08-26).
   */
  'cable-demoted': ofCable(
    "the carrier moves to another receptacle's interface: the address stays behind, TCP crawls, RDMA carries nothing",
    (cable, fleet, end) => {
      const free = lastFree(fleet, end.node);
      if (cable.strayCarrier !== undefined) return 'its carrier has already moved';
      return free === undefined ? 'the Mac has no free receptacle' : { strayCarrier: { at: end, on: free.receptacle } };
    },
  ),

  'cable-40g': ofCable('a Thunderbolt 4 cable is plugged in: both ends link at 40 Gb/s', (cable, fleet) =>
    linkSpeed(fleet, cable) === 40 ? 'the link already runs at 40 Gb/s' : { gigabitsPerSecond: 40 },
  ),

  /** A cable that passes every check but a measurement. */
  'cable-slow': ofCable(
    'the cable carries a tenth of what the others carry, although its link speed reads the same',
    (cable) => (cable.isSlow ? 'the cable is already slow' : { isSlow: true }),
  ),

  /** The interface has lost its IPv4 address, and therefore its IPv4-mapped GID. */
  'gid-missing': defineFault(
    'the interface has lost its IPv4 address, so its RDMA device has no GID',
    aims.cables,
    (fleet, ends) => {
      const mac = macNamed(fleet, ends[0]?.node ?? '');
      if (mac === undefined) return 'the Mac has no cable';
      const lost = mac.receptacles.filter(({ number }) => ends.some(({ receptacle }) => receptacle === number));
      if (lost.every(({ device }) => isBridged(mac, device))) return 'its receptacles are bridged and have no address';
      const addresses = Object.fromEntries(lost.map(({ device }) => [device, 'none' as const]));
      const live = { ...mac.live, addresses: { ...mac.live.addresses, ...addresses } };
      return withMac(fleet, mac.name, () => ({ ...mac, live }));
    },
  ),

  /** The IPv4-mapped GID follows the link-local one, as on some Mac minis (mlx pull request 3389). Nothing moves it. */
  'gid-second': defineFault(
    'its RDMA devices list the GID of their IPv4 address at index 2, but mlx and exo send only from index 1',
    aims.cables,
    (fleet, ends) => {
      const mac = macNamed(fleet, ends[0]?.node ?? '');
      if (mac === undefined) return 'the Mac has no cable';
      const moved = mac.receptacles.map((one) =>
        ends.some(({ receptacle }) => receptacle === one.number) ? { ...one, isMappedGidFirst: false } : one,
      );
      return withMac(fleet, mac.name, (one) => ({ ...one, receptacles: moved }));
    },
  ),
};
