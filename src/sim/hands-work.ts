import { linkEndText } from '../model/node.ts';
import type { ActiveFault } from './faults/faults.ts';
import { type Cable, isSameEnd } from './model/cables.ts';
import type { SimEvent } from './model/events.ts';
import { macNamed, type SimulatedFleet } from './model/fleet.ts';
import { append, type History, withoutFaults } from './model/history.ts';
import { hasRdmaInSettings } from './model/macos-builds.ts';
import { automaticLoginOf } from './model/node-files.ts';
import type { PlistValue } from './model/plist.ts';

/** What hands at the rack did. */
interface HandsWork {
  readonly history: History;
  /** In sentences without a full stop; empty when there was nothing to do. */
  readonly done: readonly string[];
  /** Macs whose RDMA was enabled and that restart for it. */
  readonly visited: readonly string[];
}

/** Faults that a person at the rack mends. */
const byHands = (fault: ActiveFault): boolean =>
  /^(?:cable|hub)-/.test(fault.fault) ||
  ['rdma-disabled', 'filevault-locked', 'remote-login-off'].includes(fault.fault);

/** What the file wants of hands. */
export interface HandsWish {
  readonly cables: readonly Cable[];
  /** Whom each Mac is to log in by itself, by name; null is nobody, and a Mac that is missing stays as it is. */
  readonly automaticLogins: Readonly<Record<string, string | null>>;
}

const cableText = ({ ends }: Cable): string => ends.map(linkEndText).join(' <-> ');

const isBetweenSameEnds = (one: Cable, other: Cable): boolean =>
  one.ends.every((end) => other.ends.some((far) => isSameEnd(end, far)));

function cableWork({ cables: before, hanging }: SimulatedFleet, after: readonly Cable[]): readonly string[] {
  const inPlace = (cable: Cable, cables: readonly Cable[]): Cable | undefined =>
    cables.find((one) => isBetweenSameEnds(one, cable));
  return [
    ...before.filter((cable) => inPlace(cable, after) === undefined).map((one) => `unplugged ${cableText(one)}`),
    ...hanging.map(({ end }) => `took the cable out of ${linkEndText(end)}`),
    ...after.flatMap((cable) => {
      const old = inPlace(cable, before);
      if (old === undefined) return [`plugged in ${cableText(cable)}`];
      if (old.dock !== undefined && cable.dock === undefined) return [`took the dock out of ${cableText(cable)}`];
      return old.gigabitsPerSecond === cable.gigabitsPerSecond
        ? []
        : [`put a ${cable.gigabitsPerSecond} Gb/s cable into ${cableText(cable)}`];
    }),
  ];
}

/** Macs of which this is true before and not after. */
const changed = (
  before: SimulatedFleet,
  after: SimulatedFleet,
  isWrong: (mac: SimulatedFleet['macs'][number]) => boolean,
): readonly string[] => {
  const wrong = new Set(before.macs.filter(isWrong).map(({ name }) => name));
  return after.macs.filter((mac) => wrong.has(mac.name) && !isWrong(mac)).map(({ name }) => name);
};

/** Where this Mac has its RDMA switch. */
const switchPlace = (fleet: SimulatedFleet, name: string): string =>
  hasRdmaInSettings(macNamed(fleet, name)?.macos.version ?? '') ? 'System Settings' : 'Recovery';

/** Whom the Mac of this name logs in by itself. */
function loginOn(fleet: SimulatedFleet, name: string): PlistValue | undefined {
  const mac = macNamed(fleet, name);
  return mac === undefined ? undefined : automaticLoginOf(mac);
}

/**
 * Does what a person at the rack can: plugs every cable in as declared, enables RDMA where this macOS has its switch and
 * restarts that Mac, types the FileVault password, chooses automatic login, switches Remote Login on. Pure; that a Mac restarts on the way is the caller's.
 */
export function workOfHands(history: History, { cables, automaticLogins }: HandsWish): HandsWork {
  const before = history.fleet;
  const cleared = withoutFaults(history, byHands);
  const events: readonly SimEvent[] = [
    { kind: 'cables', cables },
    ...before.macs.flatMap(({ name }): readonly SimEvent[] => [
      { kind: 'enable-rdma', mac: name },
      { kind: 'unlock', mac: name },
    ]),
    ...Object.entries(automaticLogins).map(
      ([mac, user]): SimEvent => ({ kind: 'automatic-login', mac, ...(user !== null && { user }) }),
    ),
  ];
  const start = cleared.kind === 'history' ? cleared.history : history;
  const after = events.reduce((one, event) => append(one, event).history, start);
  const visited = changed(before, after.fleet, (mac) => !mac.isRdmaEnabled);
  const chosen = Object.keys(automaticLogins).filter((name) => loginOn(before, name) !== loginOn(after.fleet, name));
  const unlocked = changed(before, after.fleet, (mac) => mac.connection.filevault === 'preboot');
  const shared = changed(before, after.fleet, (mac) => mac.connection.isRemoteLoginOff === true);
  return {
    history: after,
    done: [
      ...cableWork(before, after.fleet.cables),
      ...visited.map((name) => `enabled RDMA on ${name} in ${switchPlace(before, name)}, and restarted it`),
      ...chosen.map((name) => `chose automatic login on ${name}: ${String(loginOn(after.fleet, name) ?? 'off')}`),
      ...unlocked.map((name) => `unlocked ${name} with its password`),
      ...shared.map((name) => `switched Remote Login of ${name} on in Sharing`),
    ],
    visited,
  };
}
