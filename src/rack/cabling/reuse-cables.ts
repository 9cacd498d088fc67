import { linkEndText } from '../../model/node.ts';
import type { Mismatch, WantedLink } from './mismatch.ts';
import { isSameEnd } from './receptacle-view.ts';
import type { WrongCable } from './wrong-cables.ts';

/** Which link each cable will serve by moving one of its ends; a cable that is not in it has to come out. */
export type Reuse = ReadonlyMap<WrongCable, WantedLink>;

/** A cable can stay in one receptacle of a link that it touches, unless it is too slow for that link. */
const serves = (cable: WrongCable, link: WantedLink): boolean =>
  !(cable.isSlow && link.isFast) && link.ends.some((end) => cable.ends.some((one) => isSameEnd(one, end)));

const linkKey = (link: WantedLink): string => link.ends.map(linkEndText).join(' ');

/** As many cables as possible with a link each, those that come first before others (Kuhn's augmenting paths). */
function match(cables: readonly WrongCable[], links: readonly WantedLink[]): Reuse {
  const cableByLink = new Map<string, WrongCable>();
  const place = (cable: WrongCable, tried: Set<string>): boolean =>
    links.some((link) => {
      const key = linkKey(link);
      if (tried.has(key) || !serves(cable, link)) return false;
      tried.add(key);
      const before = cableByLink.get(key);
      if (before !== undefined && !place(before, tried)) return false;
      cableByLink.set(key, cable);
      return true;
    });
  for (const cable of cables) place(cable, new Set());
  const linkOf = (cable: WrongCable): WantedLink | undefined =>
    links.find((link) => cableByLink.get(linkKey(link)) === cable);
  return new Map(
    cables.flatMap((cable) => {
      const link = linkOf(cable);
      return link === undefined ? [] : [[cable, link] as const];
    }),
  );
}

/**
 * Ways to use as many cables of a piece as possible where they are, with one end moved: all of them need the same
 * number of acts. Slow cables are used first where they will do, so that those which come out are worth something.
 * There is one way per cable that comes first and per direction; a ring has just the two directions.
 */
export function reuses({ cables, links }: Pick<Mismatch, 'cables' | 'links'>): readonly Reuse[] {
  const bySpeed = [...cables.filter(({ isSlow }) => isSlow), ...cables.filter(({ isSlow }) => !isSlow)];
  const firsts = bySpeed.filter(({ isSlow }) => isSlow === bySpeed[0]?.isSlow);
  const orders = firsts.map((first) => [first, ...bySpeed.filter((cable) => cable !== first)]);
  return (orders.length === 0 ? [[]] : orders).flatMap((order) => [
    match(order, links),
    match(order, links.toReversed()),
  ]);
}
