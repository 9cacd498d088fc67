import { given } from '../../model/given.ts';
import { type LinkEnd, linkEndText } from '../../model/node.ts';

export interface Cable {
  readonly ends: readonly [LinkEnd, LinkEnd];
  /** The cable's own limit; a link is as fast as its slowest part. */
  readonly gigabitsPerSecond: 40 | 80;
  /** The cable carries a tenth of its link speed. */
  readonly isSlow?: true;
  /** The Mac at this end has the carrier on the interface of another receptacle, until the cable is plugged in again. */
  readonly strayCarrier?: { readonly at: LinkEnd; readonly on: number };
  /** A dock or hub between the two ends. */
  readonly dock?: {
    /** The end whose Mac sees the dock and the far Mac one level deeper; the other end sees its peer directly. */
    readonly at: LinkEnd;
    /** Whether that Mac sees nothing behind the dock, as with a Studio Display. */
    readonly isBlind: boolean;
  };
}

/** Megabits per gigabit of a real cable, a load that this machine can carry. A slow cable stays half as fast. */
export const megabitsPerGigabit = 10;

/** A cable with one end plugged in and the other end loose. */
interface HangingCable extends Omit<Cable, 'ends' | 'strayCarrier'> {
  readonly end: LinkEnd;
}

export const isSameEnd = (one: LinkEnd, other: LinkEnd): boolean =>
  one.node === other.node && one.receptacle === other.receptacle;

export const cableAt = (cables: readonly Cable[], end: LinkEnd): Cable | undefined =>
  cables.find((cable) => cable.ends.some((one) => isSameEnd(one, end)));

export const hangingAt = (hanging: readonly HangingCable[], end: LinkEnd): HangingCable | undefined =>
  hanging.find((cable) => isSameEnd(cable.end, end));

export interface PluggedCables {
  readonly cables: readonly Cable[];
  /** Cables with one loose end, which no Mac sees. */
  readonly hanging: readonly HangingCable[];
}

export const isFree = ({ cables, hanging }: PluggedCables, end: LinkEnd): boolean =>
  cableAt(cables, end) === undefined && hangingAt(hanging, end) === undefined;

export const farEnd = (cables: readonly Cable[], end: LinkEnd): LinkEnd | undefined =>
  cableAt(cables, end)?.ends.find((one) => !isSameEnd(one, end));

/** Exchanges the plugs of two receptacles; a cable moves if one receptacle is empty. */
export function withSwap({ cables, hanging }: PluggedCables, one: LinkEnd, other: LinkEnd): PluggedCables {
  const moved = (end: LinkEnd): LinkEnd => (isSameEnd(end, one) ? other : isSameEnd(end, other) ? one : end);
  const withDock = ({ dock }: Pick<Cable, 'dock'>) => given({ dock: dock && { ...dock, at: moved(dock.at) } });
  return {
    cables: cables.map(({ strayCarrier, ...cable }) => ({
      ...cable,
      ends: [moved(cable.ends[0]), moved(cable.ends[1])],
      ...withDock(cable),
      ...given({ strayCarrier: cable.ends.every((end) => moved(end) === end) ? strayCarrier : undefined }),
    })),
    hanging: hanging.map((cable) => ({ ...cable, end: moved(cable.end), ...withDock(cable) })),
  };
}

/** Cables as sorted texts, regardless of the order in which they were plugged in. */
export const plugged = (cables: readonly Cable[]): readonly string[] =>
  cables
    .map(({ ends, gigabitsPerSecond, isSlow, dock, strayCarrier }) => {
      const at = dock === undefined ? '' : `${linkEndText(dock.at)} ${dock.isBlind}`;
      return `${ends.map(linkEndText).sort().join(' ')} ${gigabitsPerSecond}${isSlow ? ' slow' : ''} ${at}${strayCarrier === undefined ? '' : ` stray ${linkEndText(strayCarrier.at)}`}`;
    })
    .sort();
