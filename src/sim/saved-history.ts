import { isFree } from './model/cables/cables.ts';
import { replay, type SimEvent } from './model/events.ts';
import type { SimulatedFleet } from './model/fleet.ts';
import type { History } from './model/history.ts';

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
