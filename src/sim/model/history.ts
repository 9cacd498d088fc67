import { isDeepStrictEqual } from 'node:util';
import { diagnose } from '../../diagnostics/diagnose.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { given } from '../../model/given.ts';
import { everyPair } from '../../model/lists.ts';
import { underDaemon } from '../faults/fault-network.ts';
import { type ActiveFault, type FaultName, faults } from '../faults/faults.ts';
import { acted, type HandsAct } from '../hands.ts';
import { applyWrite, type Write } from '../tools/registry.ts';
import { type Cable, isFree, plugged } from './cables.ts';
import { ailing, type MacState, type SimulatedFleet, withConnection, withMac } from './fleet.ts';
import { bridgeIn, isCabled, withBridgeInterface, withWholeBridge } from './network.ts';
import { automaticLoginOf, loginWindowDomain, softwareUpdateDomain } from './node-files.ts';
import type { PlistDict } from './plist.ts';
import { strangerPid } from './rdma.ts';
import { seededUuid } from './seed.ts';

/** One event in a rack. The rack's state is that of the healthy rack after all events, applied in order. */
export type SimEvent =
  | { readonly kind: 'fault'; readonly fault: FaultName; readonly target: string }
  | ({ readonly kind: 'write' } & Write)
  /** A Mac's network preferences were changed in the file. */
  | { readonly kind: 'preferences'; readonly mac: string; readonly preferences: PlistDict }
  /** The Mac itself booted, wherever its node's address leads. */
  | { readonly kind: 'boot'; readonly mac: string; readonly atEpochSeconds: number }
  /** A person plugged in exactly these cables. */
  | { readonly kind: 'cables'; readonly cables: readonly Cable[] }
  | { readonly kind: 'hands'; readonly act: HandsAct }
  /** A person enabled RDMA in Recovery, or from macOS 27 on in System Settings. */
  | { readonly kind: 'enable-rdma'; readonly mac: string }
  /** A rank sent much TCP through a cable. */
  | { readonly kind: 'tcp-load'; readonly mac: string }
  /** The ranks of a Mac received the signal of a fault. */
  | { readonly kind: 'ranks-signalled'; readonly mac: string }
  /** A service received KILL. */
  | { readonly kind: 'rank-started'; readonly mac: string }
  | { readonly kind: 'killed'; readonly mac: string }
  /** Processes that exist only in the model received a fatal signal. */
  | { readonly kind: 'processes-ended'; readonly mac: string; readonly pids: readonly number[] }
  | { readonly kind: 'daemon-run'; readonly mac: string }
  /** A person disabled or enabled exo's daemon. */
  | { readonly kind: 'daemon'; readonly mac: string; readonly isStopped: boolean }
  /** A person set the user of automatic login in System Settings; absent: none. */
  | { readonly kind: 'automatic-login'; readonly mac: string; readonly user?: string }
  /** A person entered the FileVault password. */
  | { readonly kind: 'unlock'; readonly mac: string };

type WithoutMac<Event> = Event extends { readonly mac: string } ? Omit<Event, 'mac'> : never;

/** An event of one Mac. */
export type MacEvent = WithoutMac<SimEvent>;

/** The rack after one more event, and the event's result. */
type Happened =
  | {
      readonly kind: 'done';
      readonly fleet: SimulatedFleet;
      readonly written?: ReturnType<typeof applyWrite>;
      readonly target?: string;
      /** The manual steps, as a sentence without a period. */
      readonly text?: string;
    }
  /** An impossible fault or manual step; nothing changed. */
  | { readonly kind: 'refused'; readonly fleet: SimulatedFleet; readonly diagnostic: Diagnostic };

const withCables = (fleet: SimulatedFleet, cables: readonly Cable[]): SimulatedFleet =>
  isDeepStrictEqual([fleet.cables, fleet.hanging, fleet.strangers], [cables, [], []])
    ? fleet
    : { ...fleet, cables, hanging: [], strangers: [] };

const sentence = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;

/** A Mac without exo's daemon is unchanged. */
function withDaemon(mac: MacState, isStopped: boolean): MacState {
  const networkDaemon = isStopped ? 'stopped' : 'fights';
  const before = mac.ailments.networkDaemon;
  return before === undefined || before === networkDaemon ? mac : ailing(mac, { networkDaemon });
}

function signalled(mac: MacState): MacState {
  const { rankSignal, ...ailments } = mac.ailments;
  const after = { ...mac, ailments };
  return rankSignal === 'SIGKILL' ? afterKill(after) : after;
}

type Changes = { readonly [K in MacEvent['kind']]: (mac: MacState, event: Extract<MacEvent, { kind: K }>) => MacState };

/** Each returns the Mac after one of its events, or the identical Mac if the event had no effect. */
const changes: Changes = {
  preferences: (mac, { preferences }) =>
    isDeepStrictEqual(mac.preferences, preferences) ? mac : { ...mac, preferences },
  boot: (mac, { atEpochSeconds }) => freshlyBooted(mac, atEpochSeconds),
  'enable-rdma': (mac) => (mac.isRdmaEnabled ? mac : { ...mac, isRdmaEnabled: true }),
  'tcp-load': (mac) =>
    mac.ailments.panicsUnderTcp && mac.ailments.panic === undefined ? ailing(mac, { panic: 'tcp-load' }) : mac,
  'ranks-signalled': signalled,
  'rank-started': (mac) => (mac.ailments.killsRanks ? ailing(mac, { rankSignal: 'SIGKILL' }) : mac),
  killed: afterKill,
  'processes-ended': (mac, { pids }) => withoutProcesses(mac, pids),
  'daemon-run': underDaemon,
  daemon: (mac, { isStopped }) => withDaemon(mac, isStopped),
  'automatic-login': (mac, { user }) => withAutomaticLogin(mac, user),
  unlock: (mac) => (mac.connection.filevault === 'preboot' ? withConnection(mac, { filevault: 'unlocked' }) : mac),
};

const changedMac = (mac: MacState, event: MacEvent): MacState =>
  (changes[event.kind] as (mac: MacState, event: MacEvent) => MacState)(mac, event);

function happen(fleet: SimulatedFleet, event: SimEvent): Happened {
  switch (event.kind) {
    case 'fault': {
      const result = faults[event.fault].apply(fleet, event.target);
      if (result.kind === 'refused') return { ...result, fleet };
      return { kind: 'done', fleet: hotPlugged(fleet, result.fleet), target: result.target };
    }
    case 'write': {
      const written = applyWrite(fleet, event);
      return { kind: 'done', fleet: written.fleet, written };
    }
    case 'cables':
      return { kind: 'done', fleet: hotPlugged(fleet, withCables(fleet, event.cables)) };
    case 'hands': {
      const result = acted(fleet, event.act);
      if (result.kind === 'refused') {
        const { reason, hint } = result;
        const diagnostic = diagnose('sim/impossible-act', { detail: sentence(reason), ...given({ hint }) });
        return { kind: 'refused', fleet, diagnostic };
      }
      return { kind: 'done', fleet: hotPlugged(fleet, result.fleet), text: result.text };
    }
    default:
      return { kind: 'done', fleet: withMac(fleet, event.mac, (mac) => changedMac(mac, event)) };
  }
}

/** Replays all these events on a rack. Events that are no longer possible have no effect. */
const replay = (start: SimulatedFleet, events: readonly SimEvent[]): SimulatedFleet =>
  events.reduce((fleet, event) => happen(fleet, event).fleet, start);

/** The problems that survive a boot, and the report of a preceding panic. */
function afterStart({ ailments, panics }: MacState, atEpochSeconds: number): Pick<MacState, 'ailments' | 'panics'> {
  const { panic, leaksWired, leakedWiredBytes, killsRanks, swapUsedMegabytes, ...others } = ailments;
  const { isRdmaHeld, isRdmaHung, isVerbsHung, lacksDomains, refusesQueuePairs, ...lasting } = others;
  return {
    ailments: { ...lasting, deadReceptacles: [] },
    ...(panic !== undefined && { panics: [...(panics ?? []), { cause: panic, atEpochSeconds }] }),
  };
}

/**
 * What an update can reset, as people check after each one: RDMA, the bridge and automatic updates. Which update resets
 * which of them is not known.
 */
function withResets(mac: MacState): MacState {
  const domain = mac.domains[softwareUpdateDomain];
  const { AutomaticallyInstallMacOSUpdates: _, ...others } = domain ?? {};
  const domains = domain === undefined ? mac.domains : { ...mac.domains, [softwareUpdateDomain]: others };
  return withWholeBridge({ ...mac, domains, isRdmaEnabled: false });
}

/** The Mac with the update that it installed before this boot, if any. */
function updated({ installed, downloads: _, ...mac }: MacState): MacState {
  if (installed === undefined) return mac;
  const { update, ...ailments } = mac.ailments;
  const after = { ...mac, ailments };
  if (update === 'fails') return after;
  const macos = update === 'differs' ? { ...installed, build: `${installed.build}9` } : installed;
  return { ...(update === 'resets' ? withResets(after) : after), macos };
}

/** A Mac right after its boot: a new boot session, with files, NVRAM, power and network preferences as before. */
function freshlyBooted(before: MacState, atEpochSeconds: number): MacState {
  const mac = before.installed === undefined ? before : updated(before);
  const count = mac.bootSession.count + 1;
  // FileVault asks for a password before macOS boots; only an authenticated restart goes past it, once.
  const isAuthorized = mac.connection.filevault === 'authorized' && mac.ailments.panic === undefined;
  const filevault = mac.isFileVaultOn && !isAuthorized ? 'preboot' : 'unlocked';
  const { isRdmaWaiting: _, ...rest } = withConnection(mac, mac.isFileVaultOn ? { filevault } : {});
  return {
    ...started(rest),
    bootSession: { uuid: seededUuid([mac.hardwareUuid, 'boot', count]), count, bootedAtEpochSeconds: atEpochSeconds },
    wiredLimitMegabytes: 0,
    ...afterStart(mac, atEpochSeconds),
  };
}

/** The share of memory that each killed process leaves wired, up to three of them. */
const leakedShare = 0.25;
const mostLeaks = 3;

const pageBytes = 16_384;

/** With a leak, part of a killed process's memory remains wired until the next boot. */
function afterKill(mac: MacState): MacState {
  if (!mac.ailments.leaksWired) return mac;
  const bytes = Math.round((mac.memoryBytes * leakedShare) / pageBytes) * pageBytes;
  return ailing(mac, { leakedWiredBytes: Math.min((mac.ailments.leakedWiredBytes ?? 0) + bytes, mostLeaks * bytes) });
}

/** macOS does not offer automatic login while FileVault is on. */
function withAutomaticLogin(mac: MacState, user: string | undefined): MacState {
  const wanted = mac.isFileVaultOn ? undefined : user;
  if (automaticLoginOf(mac) === wanted) return mac;
  const { autoLoginUser: _, ...others } = mac.domains[loginWindowDomain] ?? {};
  const dict = wanted === undefined ? others : { ...others, autoLoginUser: wanted };
  return { ...mac, domains: { ...mac.domains, [loginWindowDomain]: dict } };
}

/** A fatal signal ends only processes that are not in uninterruptible wait. */
function withoutProcesses(mac: MacState, pids: readonly number[]): MacState {
  if (!mac.ailments.isRdmaHeld || !pids.includes(strangerPid)) return mac;
  const { isRdmaHeld: _, ...ailments } = mac.ailments;
  return { ...mac, ailments };
}

/** Returns the Mac with the network of a fresh boot, without any changes that existed only in the running system. */
function started(mac: MacState): MacState {
  const ready: MacState = { ...mac, live: { ...given({ bridge: bridgeIn(mac.preferences) }), addresses: {} } };
  return mac.ailments.isBridgeRebuilt ? withBridgeInterface(ready) : ready;
}

/**
 * macOS's reaction to a new cable: it recreates the Thunderbolt Bridge, unless the bridge is also missing in the
 * preferences. Seen on Mac16,11, where a removal with only ifconfig does not last.
 */
function hotPlugged(before: SimulatedFleet, after: SimulatedFleet): SimulatedFleet {
  if (before.cables === after.cables) return after;
  const macs = after.macs.map((mac) => {
    const old = before.macs.find((one) => one.name === mac.name);
    const isPlugged = mac.receptacles.some(
      (receptacle) => isCabled(after, mac, receptacle) && (old === undefined || !isCabled(before, old, receptacle)),
    );
    const bridge = bridgeIn(mac.preferences);
    return isPlugged && bridge !== undefined ? { ...mac, live: { ...mac.live, bridge } } : mac;
  });
  return { ...after, macs };
}

/** A rack's events since the oldest active fault, so that each fault can be removed: `start` with them is `fleet`. */
export interface History {
  readonly start: SimulatedFleet;
  readonly events: readonly SimEvent[];
  readonly fleet: SimulatedFleet;
}

export const beginHistory = (start: SimulatedFleet): History => ({ start, events: [], fleet: start });

/** Applies one more event. If the event is refused or has no effect, the history is unchanged. */
export function append(history: History, event: SimEvent): { readonly history: History; readonly happened: Happened } {
  const happened = happen(history.fleet, event);
  if (happened.fleet === history.fleet) return { history, happened };
  const recorded =
    event.kind === 'fault' && happened.kind === 'done' && happened.target !== undefined
      ? { ...event, target: happened.target }
      : event;
  return { history: settle({ ...history, events: [...history.events, recorded], fleet: happened.fleet }), happened };
}

const isFault = (event: SimEvent): boolean => event.kind === 'fault';

/** All faults in the history, oldest first. */
export const faultsIn = ({ events }: History): readonly ActiveFault[] =>
  events.flatMap((event) => (event.kind === 'fault' ? [{ fault: event.fault, target: event.target }] : []));

/** The visible faults. A fault is fixed when all of its symptoms are the same as without the fault. */
export function faultsInForce(history: History): readonly ActiveFault[] {
  const shows = (event: SimEvent): boolean => {
    if (event.kind !== 'fault') return true;
    const { symptoms } = faults[event.fault];
    if (symptoms === undefined) return true;
    const others = history.events.filter((one) => one !== event);
    const without = replay(history.start, others);
    return !isDeepStrictEqual(symptoms(without, event.target), symptoms(history.fleet, event.target));
  };
  return faultsIn({ ...history, events: history.events.filter(shows) });
}

/** The sets of manual steps that may have just fixed a fault: none, the last one or two, or all. */
function repairs(events: readonly SimEvent[], fault: SimEvent): readonly (readonly SimEvent[])[] {
  if (events.at(-1)?.kind !== 'hands') return [[]];
  const acts = events.slice(events.indexOf(fault) + 1).filter(({ kind }) => kind === 'hands');
  const pairs = everyPair(acts);
  return [[], ...acts.map((one) => [one]), ...pairs, ...(acts.length > 2 ? [acts] : [])];
}

/** Compares racks regardless of the order in which cables were plugged in. */
const isSameRack = (one: SimulatedFleet, other: SimulatedFleet): boolean => {
  const unordered = ({ cables, ...rest }: SimulatedFleet): unknown => ({ ...rest, cables: plugged(cables) });
  return isDeepStrictEqual(unordered(one), unordered(other));
};

/** The events without a fixed fault and without the manual steps that fixed it; undefined if the fault is not fixed. */
function withoutMended({ start, events, fleet }: History, fault: SimEvent): readonly SimEvent[] | undefined {
  return repairs(events, fault)
    .map((repair) => events.filter((one) => one !== fault && !repair.includes(one)))
    .find((left) => isSameRack(replay(start, left), fleet));
}

/** Removes fixed faults, and all events before the oldest active fault. */
function settle(history: History): History {
  let { events } = history;
  for (const event of history.events.filter(isFault)) {
    const left = withoutMended({ ...history, events }, event);
    if (left !== undefined) events = left;
  }
  const fleet = events === history.events ? history.fleet : replay(history.start, events);
  const first = events.findIndex(isFault);
  const settled = first < 0 ? events.length : first;
  return {
    start: first < 0 ? fleet : replay(history.start, events.slice(0, settled)),
    events: events.slice(settled),
    fleet,
  };
}

type Cleared =
  | { readonly kind: 'history'; readonly history: History }
  /** A remaining fault would be impossible without the removed faults. */
  | { readonly kind: 'refused'; readonly diagnostic: Diagnostic };

/** The history as if these faults had never been set. */
export function withoutFaults(history: History, isGone: (fault: ActiveFault) => boolean): Cleared {
  const events = history.events.filter((event) => event.kind !== 'fault' || !isGone(event));
  let fleet = history.start;
  for (const event of events) {
    const happened = happen(fleet, event);
    if (happened.kind === 'refused' && event.kind === 'fault')
      return { kind: 'refused', diagnostic: happened.diagnostic };
    fleet = happened.fleet;
  }
  return { kind: 'history', history: settle({ start: history.start, events, fleet }) };
}

/** Version of the saved format; increased if older readers would misread it. */
const formatVersion = 3;

export const historyText = ({ start, events }: History): string =>
  `${JSON.stringify({ formatVersion, start, events })}\n`;

/** Restores a history from text; undefined if the text is not a valid saved history. */
export function savedHistory(text: string): History | undefined {
  try {
    const saved = JSON.parse(text) as Partial<History & Record<'formatVersion', number>>;
    const { start, events } = saved;
    if (saved.formatVersion !== formatVersion || start === undefined || events === undefined) return undefined;
    return { start, events, fleet: replay(start, events) };
  } catch {
    return undefined;
  }
}

/**
 * Adapts a saved history to a cluster file that may have changed since. Macs that are still in the file, and the cables
 * between them, are unchanged. New Macs have the declared state, with their cables where receptacles are free. All
 * other Macs are removed with their cables.
 */
export function adopted({ start, events }: History, declared: SimulatedFleet): History {
  const macs = declared.macs.map((mac) => start.macs.find(({ name }) => name === mac.name) ?? mac);
  const isOld = (name: string): boolean => start.macs.some((mac) => mac.name === name);
  const stays = (name: string): boolean => macs.some((mac) => mac.name === name);
  const isThere = (name: string): boolean => stays(name) || start.strangers.some((mac) => mac.name === name);
  const remaining = start.cables.filter(({ ends }) => ends.every((end) => isThere(end.node)));
  const hanging = start.hanging.filter(({ end }) => stays(end.node));
  const added = declared.cables.filter(
    ({ ends }) =>
      ends.some((end) => !isOld(end.node)) && ends.every((end) => isFree({ cables: remaining, hanging }, end)),
  );
  const misdirected = Object.entries(start.misdirected).filter(([node, other]) => stays(node) && stays(other));
  const cables = [...remaining, ...added];
  const fleet = { ...start, macs, cables, hanging, misdirected: Object.fromEntries(misdirected) };
  return { start: fleet, events, fleet: replay(fleet, events) };
}
