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

/** `studio-1:2`, the readable form of one end of a link. */
export const linkEndText = (end: LinkEnd): string => `${end.node}:${end.receptacle}`;
/** The name of one Mac in `cluster.yaml`; lower-case letters, digits and dashes, at most 63 characters. */
export type NodeName = string & { readonly brand: 'NodeName' };

/** Brands a text that the schema has already validated as a node name. */
export const nodeName = (text: string): NodeName => text as NodeName;
