const endForm = /^([a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?):([1-9][0-9]?)$/;

/** Reads `studio-1:2`, one receptacle of one node; undefined for anything else. */
export function parseLinkEnd(text: string): LinkEnd | undefined {
  const match = endForm.exec(text);
  return match === null ? undefined : { node: nodeName(match[1] ?? ''), receptacle: Number(match[2]) };
}

/** Reads `studio-1:2 <-> studio-2:2`, one cable; undefined for anything else. */
export function parseLink(text: string): readonly [LinkEnd, LinkEnd] | undefined {
  const halves = text.split('<->');
  const first = parseLinkEnd((halves[0] ?? '').trimEnd());
  const second = parseLinkEnd((halves[1] ?? '').trimStart());
  return halves.length !== 2 || first === undefined || second === undefined ? undefined : [first, second];
}

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
/** The name of one Mac in `cluster.yaml`; lower-case letters, digits and dashes, at most 63 characters. */
export type NodeName = string & { readonly brand: 'NodeName' };

/** Brands a text that the schema's grammar has already judged to be a node name. */
export const nodeName = (text: string): NodeName => text as NodeName;
