import { type LinkEnd, linkEndText } from '../../model/node.ts';
import {
  type Cable,
  cableAt,
  farEnd,
  isFree,
  isSameEnd,
  plugged,
  withoutCable,
  withSpeed,
  withSwap,
} from '../model/cables.ts';
import { linkSpeed, macNamed, type SimulatedFleet, withMac } from '../model/fleet.ts';
import { isBridged } from '../model/interfaces.ts';
import { strangerLike } from '../simulate-fleet.ts';
import {
  aimAtCable,
  aimAtCables,
  aimAtFreePair,
  aimAtReceptacle,
  aimAtTwoReceptacles,
  defineFault,
  type Fault,
  fault,
  lastFree,
} from './fault.ts';

/** What is plugged in where, and what hangs. */
const cablesOf = ({ cables, hanging }: SimulatedFleet): unknown => [
  plugged(cables),
  hanging.map(({ end }) => linkEndText(end)).sort(),
];

/** The same fault, which only the cabling shows: hands mend it, in whatever order they plug. */
const shownByCables = (whole: Fault): Fault => ({ ...whole, symptoms: cablesOf });

const withCable = (fleet: SimulatedFleet, ends: Cable['ends']): SimulatedFleet => ({
  ...fleet,
  cables: [...fleet.cables, { ends, gigabitsPerSecond: 80 }],
});

/** A cable that no file declares, between two free receptacles. */
export const cableExtra = defineFault(
  'cable-extra',
  shownByCables(
    fault({
      summary: 'one more cable, between two free receptacles, that the file does not declare',
      targets: 'NODE:R1,OTHER:R2 | NODE (the last free receptacles of it and of the next node)',
      aim: aimAtFreePair,
      change: (fleet, [one, other]) => {
        const taken = [one, other].find((end) => !isFree(fleet, end));
        if (taken !== undefined) return `${linkEndText(taken)} is not free`;
        return isSameEnd(one, other) ? 'both ends are the same receptacle' : withCable(fleet, [one, other]);
      },
    }),
  ),
);

/** A second cable between two Macs that one cable joins already. */
export const cableDoubled = defineFault(
  'cable-doubled',
  shownByCables(
    fault({
      summary: 'a second cable between the same two Macs, in their last free receptacles',
      targets: 'NODE:RECEPTACLE',
      aim: aimAtCable,
      change: (fleet, end) => {
        const far = farEnd(fleet.cables, end);
        const [one, other] = [end, far].map((at) => (at === undefined ? undefined : lastFree(fleet, at.node)));
        if (one === undefined || other === undefined) return 'one of the two Macs has no free receptacle';
        return isSameEnd(one, other) ? 'it has one free receptacle only' : withCable(fleet, [one, other]);
      },
    }),
  ),
);

/** A cable that ends in a Mac which is not in the file. */
export const cableForeign = defineFault(
  'cable-foreign',
  shownByCables(
    fault({
      summary: 'the cable in this receptacle goes to a Mac that is not in the file',
      targets: 'NODE:RECEPTACLE',
      aim: aimAtReceptacle,
      change: (fleet, end) => {
        const mac = macNamed(fleet, end.node);
        if (mac === undefined) return 'there is no such Mac';
        const stranger = strangerLike(mac, fleet.strangers.length + 1);
        const far: LinkEnd = { node: stranger.name, receptacle: 1 };
        const free = { ...fleet, cables: withoutCable(fleet.cables, end), strangers: [...fleet.strangers, stranger] };
        return withCable(free, [end, far]);
      },
    }),
  ),
);

const docked = (summary: string, isBlind: boolean): Fault =>
  shownByCables(
    fault({
      summary,
      targets: 'NODE:RECEPTACLE',
      aim: aimAtCable,
      change: (fleet, end) => {
        const cable = cableAt(fleet.cables, end);
        if (cable?.dock !== undefined) return 'a dock stands between already';
        const cables = fleet.cables.map((one): Cable => (one === cable ? { ...one, dock: { at: end, isBlind } } : one));
        return { ...fleet, cables };
      },
    }),
  );

/** A dock at this end of a cable: the peer is seen one level deeper from here, directly from the other end. */
export const hubBetween = defineFault(
  'hub-between',
  docked('a dock stands between: this end sees the far Mac behind it', false),
);

/** A dock that hides what is behind it: this end sees the dock alone, the other end sees this Mac. */
export const hubHidesPeer = defineFault(
  'hub-hides-peer',
  docked('a dock stands between: this end sees the dock and no Mac', true),
);

/** Somebody put two cable ends into each other's receptacles. */
export const cableSwapped = defineFault(
  'cable-swapped',
  shownByCables(
    fault({
      summary: 'two cable ends are exchanged: both receptacles see the wrong neighbour',
      targets: 'NODE:R1,NODE:R2 | NODE (its first two cabled receptacles)',
      aim: aimAtTwoReceptacles,
      change: (fleet, [one, other]) => {
        const first = cableAt(fleet.cables, one);
        if (isSameEnd(one, other)) return 'both ends are the same receptacle';
        if (first === undefined && cableAt(fleet.cables, other) === undefined) return 'neither receptacle has a cable';
        if (first?.ends.every((end) => isSameEnd(end, one) || isSameEnd(end, other)))
          return 'it is one and the same cable';
        return { ...fleet, cables: withSwap(fleet.cables, one, other) };
      },
    }),
  ),
);

/** A cable is out at both of its ends. */
export const cableMissing = defineFault(
  'cable-missing',
  shownByCables(
    fault({
      summary: 'the cable is not plugged in: both receptacles are free',
      targets: 'NODE:RECEPTACLE',
      aim: aimAtCable,
      change: (fleet, end) => ({ ...fleet, cables: withoutCable(fleet.cables, end) }),
    }),
  ),
);

/** A Thunderbolt 4 cable instead of a Thunderbolt 5 one. */
export const cable40g = defineFault(
  'cable-40g',
  shownByCables(
    fault({
      summary: 'the cable is an older one: both ends link at 40 Gb/s',
      targets: 'NODE:RECEPTACLE',
      aim: aimAtCable,
      change: (fleet, end) => {
        const cable = cableAt(fleet.cables, end);
        return cable === undefined || linkSpeed(fleet, cable) === 40
          ? 'the link runs at 40 Gb/s already'
          : { ...fleet, cables: withSpeed(fleet.cables, end, 40) };
      },
    }),
  ),
);

const isBridgedAt = (fleet: SimulatedFleet, node: string, device: string): boolean => {
  const mac = macNamed(fleet, node);
  return mac !== undefined && isBridged(mac, device);
};

/** The interface has lost its IPv4 address, and with it the IPv4-mapped GID. */
export const gidMissing = defineFault(
  'gid-missing',
  fault({
    summary: 'the interface has lost its IPv4 address, so its RDMA device has no GID',
    targets: 'NODE:RECEPTACLE | NODE (all its cabled receptacles)',
    aim: aimAtCables,
    change: (fleet, ends) => {
      const lost = new Set(ends.map(({ receptacle }) => receptacle));
      const node = ends[0]?.node;
      if (node === undefined) return 'it has no cable';
      const devices = (macNamed(fleet, node)?.receptacles ?? []).filter(({ number }) => lost.has(number));
      if (devices.every(({ device }) => isBridgedAt(fleet, node, device)))
        return 'its receptacles are bridged and have no address anyway';
      return withMac(fleet, node, (mac) => {
        const addresses = Object.fromEntries(devices.map(({ device }) => [device, 'none' as const]));
        return { ...mac, live: { ...mac.live, addresses: { ...mac.live.addresses, ...addresses } } };
      });
    },
  }),
);
