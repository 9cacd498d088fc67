import { isDeepStrictEqual } from 'node:util';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { type ActiveFault, faults } from '../faults/faults.ts';
import { isFree, plugged } from './cables.ts';
import { type Happened, happen, replay, type SimEvent } from './events.ts';
import type { SimulatedFleet } from './fleet.ts';

/**
 * What happened to a rack, kept as far back as something can still be taken out of it: the oldest fault in force.
 * `fleet` is always `start` after `events`.
 */
export interface History {
  readonly start: SimulatedFleet;
  readonly events: readonly SimEvent[];
  readonly fleet: SimulatedFleet;
}

/** A history in which nothing has happened yet. */
export const beginHistory = (start: SimulatedFleet): History => ({ start, events: [], fleet: start });

/** The history after one more event, with what came of it. */
type Continued = { readonly history: History; readonly happened: Happened };

/** Lets one more thing happen. What is refused or changes nothing leaves the history as it was. */
export function append(history: History, event: SimEvent): Continued {
  const happened = happen(history.fleet, event);
  if (happened.fleet === history.fleet) return { history, happened };
  const kept =
    event.kind === 'fault' && happened.kind === 'done' && happened.target !== undefined
      ? { ...event, target: happened.target }
      : event;
  return { history: settle({ ...history, events: [...history.events, kept], fleet: happened.fleet }), happened };
}

const isFault = (event: SimEvent): boolean => event.kind === 'fault';

/** Every fault that can be taken out of the history, oldest first. */
export const faultsIn = ({ events }: History): readonly ActiveFault[] =>
  events.flatMap((event) => (event.kind === 'fault' ? [{ fault: event.fault, target: event.target }] : []));

/** Those of them that show: one is mended when everything that shows it is as it would be without it. */
export function faultsInForce(history: History): readonly ActiveFault[] {
  const shows = (event: SimEvent): boolean => {
    if (event.kind !== 'fault') return true;
    const { symptoms } = faults[event.fault];
    if (symptoms === undefined) return true;
    const without = replay(
      history.start,
      history.events.filter((one) => one !== event),
    );
    return !isDeepStrictEqual(symptoms(without, event.target), symptoms(history.fleet, event.target));
  };
  return faultsIn({ ...history, events: history.events.filter(shows) });
}

/** What hands can just have finished doing about one fault: nothing, one act after it or two, or all of them. */
function repairs(events: readonly SimEvent[], fault: SimEvent): readonly (readonly SimEvent[])[] {
  if (events.at(-1)?.kind !== 'hands') return [[]];
  const acts = events.slice(events.indexOf(fault) + 1).filter(({ kind }) => kind === 'hands');
  const pairs = acts.flatMap((one, at) => acts.slice(at + 1).map((other) => [one, other]));
  return [[], ...acts.map((one) => [one]), ...pairs, ...(acts.length > 2 ? [acts] : [])];
}

/** The same rack, in whatever order its cables were plugged in. */
const isSameRack = (one: SimulatedFleet, other: SimulatedFleet): boolean => {
  const unordered = ({ cables, ...rest }: SimulatedFleet): unknown => ({ ...rest, cables: plugged(cables) });
  return isDeepStrictEqual(unordered(one), unordered(other));
};

/** What happened without a fault and the acts of hands that mended it; undefined while it is not mended. */
function withoutMended({ start, events, fleet }: History, fault: SimEvent): readonly SimEvent[] | undefined {
  return repairs(events, fault)
    .map((repair) => events.filter((one) => one !== fault && !repair.includes(one)))
    .find((left) => isSameRack(replay(start, left), fleet));
}

/** Forgets faults that have been mended by what happened since, and everything before the oldest that is left. */
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

/** What taking faults out of a history led to. */
type Cleared =
  | { readonly kind: 'history'; readonly history: History }
  /** One of the others could not be applied without them. */
  | { readonly kind: 'refused'; readonly diagnostic: Diagnostic };

/** The history as it would be if these faults had never been set. */
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

/** Grows when a reader of this form would misunderstand. */
const formatVersion = 3;

/** A history as a text, from which {@link savedHistory} makes it again. */
export const historyText = ({ start, events }: History): string =>
  `${JSON.stringify({ formatVersion, start, events })}\n`;

const isSaved = (value: unknown): value is { readonly start: SimulatedFleet; readonly events: readonly SimEvent[] } =>
  typeof value === 'object' &&
  value !== null &&
  'formatVersion' in value &&
  value.formatVersion === formatVersion &&
  'start' in value &&
  'events' in value;

/** The history of a text; undefined when the text is none of this form. */
export function savedHistory(text: string): History | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (!isSaved(value)) return undefined;
    const { start, events } = value;
    return { start, events, fleet: replay(start, events) };
  } catch {
    return undefined;
  }
}

/**
 * The history of a rack whose file may have changed since: Macs that are still in the file are as they were, and so
 * are the cables between them; Macs that are new to it come as it declares them, with those of their cables for which
 * a receptacle is free; the others are gone with their cables.
 */
export function adopted({ start, events }: History, declared: SimulatedFleet): History {
  const macs = declared.macs.map((mac) => start.macs.find(({ name }) => name === mac.name) ?? mac);
  const isOld = (name: string): boolean => start.macs.some((mac) => mac.name === name);
  const isKept = (name: string): boolean => macs.some((mac) => mac.name === name);
  const isThere = (name: string): boolean => isKept(name) || start.strangers.some((mac) => mac.name === name);
  const kept = start.cables.filter(({ ends }) => ends.every((end) => isThere(end.node)));
  const hanging = start.hanging.filter(({ end }) => isKept(end.node));
  const added = declared.cables.filter(
    ({ ends }) => ends.some((end) => !isOld(end.node)) && ends.every((end) => isFree({ cables: kept, hanging }, end)),
  );
  const misdirected = Object.entries(start.misdirected).filter(([node, other]) => isKept(node) && isKept(other));
  const fleet: SimulatedFleet = {
    macs,
    cables: [...kept, ...added],
    hanging,
    strangers: start.strangers,
    misdirected: Object.fromEntries(misdirected),
  };
  return { start: fleet, events, fleet: replay(fleet, events) };
}
