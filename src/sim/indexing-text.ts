import type { MacState } from './mac.ts';

/** Every volume with its state, as mdutil prints it after a look and after a change. */
export const indexingText = ({ isIndexing }: Pick<MacState, 'isIndexing'>): string =>
  ['/', '/System/Volumes/Data', '/System/Volumes/Preboot']
    .map((volume) => `${volume}:\n\t${isIndexing ? 'Indexing enabled. ' : 'Indexing disabled.'}\n`)
    .join('');
