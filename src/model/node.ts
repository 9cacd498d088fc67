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

/** Shorter runs of names are listed. */
const shortestSpan = 3;

/** A name as stem and number: `studio-` and `4`; the number may be empty. */
const halvesOf = (name: string): readonly [string, string] => {
  const stem = name.replace(/\d{1,9}$/, '');
  return [stem, name.slice(stem.length)];
};

/** `studio-1..4` for consecutive names, `studio-1,4` for others with one stem, otherwise all names. */
export function everyNodeText(names: readonly string[]): string {
  const halves = names.map(halvesOf);
  const [[stem, first] = ['', '']] = halves;
  const numbers = halves.map(([, digits]) => digits);
  if (halves.some(([other, digits]) => other !== stem || digits === '')) return names.join(', ');
  const isCounted = numbers.every((digits, at) => digits === `${Number(first) + at}`.padStart(first.length, '0'));
  return isCounted && names.length >= shortestSpan
    ? `${stem}${first}..${numbers.at(-1)}`
    : `${stem}${numbers.join(',')}`;
}
