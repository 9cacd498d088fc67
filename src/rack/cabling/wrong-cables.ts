import type { LinkEnd } from '../../model/node.ts';
import { type Cabling, isLimited, undeclaredCables } from './judge-cabling.ts';
import { minimumLinkBitsPerSecond } from './judge-link.ts';
import type { ReceptacleView } from './receptacle-view.ts';
import type { SeenRack } from './see-receptacles.ts';

/** A cable that is not where any link wants it. */
export interface WrongCable {
  /** Its ends in receptacles of the fleet, in printing order: two, or one when it goes to a Mac outside the file. */
  readonly ends: readonly LinkEnd[];
  /** The model of the Mac outside the file at its other end. */
  readonly outside?: string;
  /** Whether it runs below 80 Gb/s and no Mac at its ends is known to be the reason. */
  readonly isSlow: boolean;
}

const isSlow = (rack: SeenRack, ends: readonly LinkEnd[], bitsPerSecond: number | undefined): boolean =>
  bitsPerSecond !== undefined && bitsPerSecond < minimumLinkBitsPerSecond && !isLimited(rack, ends);

/** The one Mac outside the file to which a cable goes straight from here; undefined for anything else. */
export function outsideModel({ peers }: ReceptacleView): string | undefined {
  const [peer, ...others] = peers;
  return peer?.kind === 'foreign' && peer.hubsBetween === 0 && others.length === 0 ? peer.model : undefined;
}

/** Every cable that no link declares, sorted by its first end: those between nodes, and those to Macs outside the file. */
export function wrongCables(cabling: Cabling): readonly WrongCable[] {
  const { rack } = cabling;
  const inside = undeclaredCables(cabling).map(
    ({ ends, bitsPerSecond }): WrongCable => ({ ends, isSlow: isSlow(rack, ends, bitsPerSecond) }),
  );
  const outside = rack.views.flatMap((view): readonly WrongCable[] => {
    const model = outsideModel(view);
    return model === undefined
      ? []
      : [{ ends: [view.at], outside: model, isSlow: isSlow(rack, [view.at], view.linkBitsPerSecond) }];
  });
  return [...inside, ...outside];
}
