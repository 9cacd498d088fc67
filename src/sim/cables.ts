import type { LinkEnd } from '../model/link.ts';

/** One cable that is plugged in at both ends. */
export interface Cable {
  readonly ends: readonly [LinkEnd, LinkEnd];
  readonly gigabitsPerSecond: 40 | 80;
}

/** Whether two ends are the same receptacle of the same Mac. */
export const isSameEnd = (one: LinkEnd, other: LinkEnd): boolean =>
  one.node === other.node && one.receptacle === other.receptacle;

/** The cable that is plugged in here, if there is one. */
export const cableAt = (cables: readonly Cable[], end: LinkEnd): Cable | undefined =>
  cables.find((cable) => cable.ends.some((one) => isSameEnd(one, end)));

/** Where the cable of this receptacle ends. */
export function farEnd(cables: readonly Cable[], end: LinkEnd): LinkEnd | undefined {
  return cableAt(cables, end)?.ends.find((one) => !isSameEnd(one, end));
}

/** Pulls the cable of this receptacle out at both ends. */
export const withoutCable = (cables: readonly Cable[], end: LinkEnd): readonly Cable[] =>
  cables.filter((cable) => !cable.ends.some((one) => isSameEnd(one, end)));

/** Replaces the cable of this receptacle by a slower or faster one. */
export const withSpeed = (
  cables: readonly Cable[],
  end: LinkEnd,
  gigabitsPerSecond: Cable['gigabitsPerSecond'],
): readonly Cable[] =>
  cables.map((cable) => (cable.ends.some((one) => isSameEnd(one, end)) ? { ...cable, gigabitsPerSecond } : cable));

/** Exchanges what is plugged into two receptacles; an empty one becomes the place of the other's cable. */
export function withSwap(cables: readonly Cable[], one: LinkEnd, other: LinkEnd): readonly Cable[] {
  const moved = (end: LinkEnd): LinkEnd => (isSameEnd(end, one) ? other : isSameEnd(end, other) ? one : end);
  return cables.map((cable) => ({ ...cable, ends: [moved(cable.ends[0]), moved(cable.ends[1])] }));
}
