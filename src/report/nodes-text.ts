/** More names than these are counted instead. */
const listedAtMost = 4;

/** `studio-1, studio-2`; `6 nodes` for more than four. */
export const nodesText = (names: readonly string[]): string =>
  names.length > listedAtMost ? `${names.length} nodes` : names.join(', ');
