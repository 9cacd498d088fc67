import { endAddresses, linkText } from '../../../desired/addresses.ts';
import type { RankSaid } from '../../../drivers/classify-log.ts';
import type { DesiredFleet } from '../../../model/desired.ts';
import type { NodeName } from '../../../model/node.ts';

/** A rank that complains of an address which the file gave to another Mac on one of their cables. */
export interface NamedPeer {
  readonly said: RankSaid;
  readonly line: string;
  readonly address: string;
  readonly node: NodeName;
  /** `studio-1:2 <-> studio-2:2`. */
  readonly link: string;
}

/** Words of a complaint in any program; a line without one may as well tell of a connection that was made. */
const complaint = /\bno (?:way|route)\b|fail|error|errno|refused|unreachable|timed? ?out|cannot|can't|not answer/i;

/** An address in a text, and no part of a longer one. */
const addresses = /(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?![\d.]*\d)/g;

/** The last complaint of the lowest rank that names a Mac by its address on a cable; `undefined` where none does. */
export function namedPeer({ thunderbolt }: DesiredFleet, ranks: readonly RankSaid[]): NamedPeer | undefined {
  const ends = thunderbolt.links.flatMap((link) => {
    const network = thunderbolt.networks[link.index];
    return network === undefined ? [] : endAddresses(link.ends, network).map((end) => ({ ...end, link }));
  });
  for (const said of ranks) {
    for (const line of said.lines.toReversed()) {
      const found = complaint.test(line)
        ? ends.find(({ end, address }) => end.node !== said.node && line.match(addresses)?.includes(address) === true)
        : undefined;
      if (found !== undefined) {
        return { said, line, address: found.address, node: found.end.node, link: linkText(found.link.ends) };
      }
    }
  }
  return undefined;
}
