import type { NodeName } from './node.ts';

/** One end of a cable: a receptacle of a node, numbered as macOS prints it (`receptacle_id_key`). */
export interface LinkEnd {
  readonly node: NodeName;
  readonly receptacle: number;
}

/** One declared cable. The order of its ends has no meaning; `index` is its place in `thunderbolt.links`. */
export interface Link {
  readonly index: number;
  readonly ends: readonly [LinkEnd, LinkEnd];
}

/** `studio-1:2`, the form in which people read and type one end of a link. */
export const linkEndText = (end: LinkEnd): string => `${end.node}:${end.receptacle}`;
