import { linkEndText } from '../../../model/link.ts';
import type { Cable } from './cables.ts';

/** Cables in an order that does not tell in which order they were plugged in, each end first that comes first. */
export const plugged = (cables: readonly Cable[]): readonly string[] =>
  cables
    .map(({ ends, gigabitsPerSecond, dock }) => {
      const at = dock === undefined ? '' : `${linkEndText(dock.at)} ${dock.isBlind}`;
      return `${ends.map(linkEndText).sort().join(' ')} ${gigabitsPerSecond} ${at}`;
    })
    .sort();
