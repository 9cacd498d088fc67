import type { MacState } from './mac.ts';

/** The volumes of every Mac. */
export const volumes: readonly string[] = ['/', '/System/Volumes/Data', '/System/Volumes/Preboot'];

/** Volumes with their state, as mdutil prints them after a look and after a change. */
export const indexingText = ({ indexed }: Pick<MacState, 'indexed'>, shown = volumes): string =>
  shown
    .map((volume) => `${volume}:\n\t${indexed.includes(volume) ? 'Indexing enabled. ' : 'Indexing disabled.'}\n`)
    .join('');
