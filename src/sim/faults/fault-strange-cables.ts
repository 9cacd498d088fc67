import { type LinkEnd, linkEndText } from '../../model/link.ts';
import { strangerLike } from '../foreign-daemon.ts';
import { plugged } from '../model/cables/cable-order.ts';
import { type Cable, cableAt, farEnd, isFree, isSameEnd, withoutCable } from '../model/cables/cables.ts';
import { macNamed, type SimulatedFleet } from '../model/fleet.ts';
import { defineFault, type Fault, fault } from './fault.ts';
import { aimAtCable, aimAtFreePair, aimAtReceptacle, lastFree } from './fault-targets.ts';

/** What is plugged in where, and what hangs. */
const cablesOf = ({ cables, hanging }: SimulatedFleet): unknown => [
  plugged(cables),
  hanging.map(({ end }) => linkEndText(end)).sort(),
];

/** The same fault, which only the cabling shows: hands mend it, in whatever order they plug. */
export const shownByCables = (whole: Fault): Fault => ({ ...whole, symptoms: cablesOf });

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
