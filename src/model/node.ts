/** One end of a cable: a node's receptacle, by its number in macOS (`receptacle_id_key`). */
export interface LinkEnd {
  readonly node: NodeName;
  readonly receptacle: number;
}

/** One declared cable. The order of the ends has no meaning; `index` is the link's position in `thunderbolt.links`. */
export interface Link {
  readonly index: number;
  readonly ends: readonly [LinkEnd, LinkEnd];
}

/** `studio-1:2`, the readable form of one end of a link. */
export const linkEndText = (end: LinkEnd): string => `${end.node}:${end.receptacle}`;

/** A Mac's name in `cluster.yaml`: lower-case letters, digits and dashes, at most 63 characters. */
export type NodeName = string & { readonly brand: 'NodeName' };

/** Brands a text that has already been validated as a node name by the schema. */
export const nodeName = (text: string): NodeName => text as NodeName;

/** Minimum number of names for the form `studio-1..4`. */
const shortestSpan = 3;

/** Splits a name into stem and number: `studio-` and `4`. The number can be empty. */
const halvesOf = (name: string): readonly [string, string] => {
  const stem = name.replace(/\d{1,9}$/, '');
  return [stem, name.slice(stem.length)];
};

/** Formats names: `studio-1..4` if consecutive, `studio-1,4` if they only share a stem, otherwise all names in full. */
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
