import { given } from '../../model/given.ts';
import { type LinkEnd, linkEndText } from '../../model/node.ts';

/** A dock or hub on the way of a cable. */
interface Dock {
  /** The end whose Mac sees the dock, and the far Mac behind it, one level deeper; the other end sees its peer directly. */
  readonly at: LinkEnd;
  /** Whether that Mac sees nothing behind the dock, as was seen with a Studio Display. */
  readonly isBlind: boolean;
}

/** One cable that is plugged in at both ends. */
export interface Cable {
  readonly ends: readonly [LinkEnd, LinkEnd];
  /** What the cable itself can do; a link is as fast as its slowest part. */
  readonly gigabitsPerSecond: 40 | 80;
  readonly dock?: Dock;
}

/** A cable with one plug in a receptacle and the other in the air. */
interface HangingCable extends Omit<Cable, 'ends'> {
  readonly end: LinkEnd;
}

/** Whether two ends are the same receptacle of the same Mac. */
export const isSameEnd = (one: LinkEnd, other: LinkEnd): boolean =>
  one.node === other.node && one.receptacle === other.receptacle;

/** The cable that is plugged in here, if there is one. */
export const cableAt = (cables: readonly Cable[], end: LinkEnd): Cable | undefined =>
  cables.find((cable) => cable.ends.some((one) => isSameEnd(one, end)));

/** The cable that hangs from here, if there is one. */
export const hangingAt = (hanging: readonly HangingCable[], end: LinkEnd): HangingCable | undefined =>
  hanging.find((cable) => isSameEnd(cable.end, end));

/** Every cable of a rack that is plugged in somewhere. */
export interface Cabling {
  readonly cables: readonly Cable[];
  /** Cables that are plugged in at one end only: no Mac sees those. */
  readonly hanging: readonly HangingCable[];
}

/** Whether nothing is plugged in here. */
export const isFree = ({ cables, hanging }: Cabling, end: LinkEnd): boolean =>
  cableAt(cables, end) === undefined && hangingAt(hanging, end) === undefined;

/** Where the cable of this receptacle ends. */
export function farEnd(cables: readonly Cable[], end: LinkEnd): LinkEnd | undefined {
  return cableAt(cables, end)?.ends.find((one) => !isSameEnd(one, end));
}

/** Exchanges what is plugged into two receptacles; an empty one becomes the place of the other's cable. */
export function withSwap({ cables, hanging }: Cabling, one: LinkEnd, other: LinkEnd): Cabling {
  const moved = (end: LinkEnd): LinkEnd => (isSameEnd(end, one) ? other : isSameEnd(end, other) ? one : end);
  const withDock = ({ dock }: Pick<Cable, 'dock'>) => given({ dock: dock && { ...dock, at: moved(dock.at) } });
  return {
    cables: cables.map((cable) => ({
      ...cable,
      ends: [moved(cable.ends[0]), moved(cable.ends[1])],
      ...withDock(cable),
    })),
    hanging: hanging.map((cable) => ({ ...cable, end: moved(cable.end), ...withDock(cable) })),
  };
}

/** Cables in an order that does not tell in which order they were plugged in, each end first that comes first. */
export const plugged = (cables: readonly Cable[]): readonly string[] =>
  cables
    .map(({ ends, gigabitsPerSecond, dock }) => {
      const at = dock === undefined ? '' : `${linkEndText(dock.at)} ${dock.isBlind}`;
      return `${ends.map(linkEndText).sort().join(' ')} ${gigabitsPerSecond} ${at}`;
    })
    .sort();
