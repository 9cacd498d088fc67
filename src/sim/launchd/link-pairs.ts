import type { Reach } from './reach.ts';

/** What a job says about the network: addresses on cables with their ports, and ports on its own loopback. */
export interface Announced {
  /** `10.77.0.1:51000` */
  readonly links: readonly string[];
  readonly loopbackPorts: readonly number[];
  /** Ports at which it listens on every address of its node. */
  readonly openPorts: readonly number[];
}

const loopbackNames = ['127.0.0.1', 'localhost', '0.0.0.0'];
/** Words behind which exo has a port for its peers, whatever address they come to. */
const openFlags = ['--zenoh-port', '--libp2p-port'];
const isPort = (port: number): boolean => port >= 1024 && port <= 65_535;

/**
 * Everything in the texts of a job that can be an address with a port, or a port alone: a whole number from 1024, as
 * a word of its own or behind `=`. Too many cost nothing, since a pair that nobody uses is only a line of the table.
 */
export function announcedIn(texts: readonly string[]): Announced {
  const links = new Set<string>();
  const ports = new Set<number>();
  for (const text of texts) {
    for (const [, address = '', digits = ''] of text.matchAll(/(\d{1,3}(?:\.\d{1,3}){3}|localhost):(\d{1,5})(?!\d)/g)) {
      if (!isPort(Number(digits))) continue;
      if (loopbackNames.includes(address)) ports.add(Number(digits));
      else links.add(`${address}:${digits}`);
    }
    const [, alone = ''] = /^(?:[^=\s]{1,80}=)?(\d{4,5})$/.exec(text) ?? [];
    if (alone !== '' && isPort(Number(alone))) ports.add(Number(alone));
  }
  const open = texts.flatMap((text, at) => (openFlags.includes(texts[at - 1] ?? '') ? [Number(text)] : []));
  return { links: [...links], loopbackPorts: [...ports], openPorts: open.filter(isPort) };
}

/** One address of one node with the loopback port of this machine that stands for it. */
export interface LinkPair {
  readonly node: string;
  /** `10.77.0.1:51000` */
  readonly address: string;
  readonly loopbackPort: number;
}

const loopback = '127.0.0.1';

/** The key under which a pair is kept. */
export const pairKey = (node: string, address: string): string => `${node} ${address}`;

/** `10.77.0.1:51000` → `10.77.0.1` */
const hostOf = (address: string): string => address.slice(0, address.lastIndexOf(':'));

/**
 * The table of one node, sorted: what its processes can listen on and connect to right now. A line is
 * `10.77.0.1:51000 127.0.0.1:23211`.
 */
export function linkTableText(pairs: readonly LinkPair[], node: string, reach: Reach): string {
  const isReached = (pair: LinkPair): boolean => {
    const host = hostOf(pair.address);
    if (pair.node === node && (host === loopback || reach.own.includes(host))) return true;
    return reach.far.some((far) => far.node === pair.node && far.address === host);
  };
  const lines = pairs.filter(isReached).map(({ address, loopbackPort }) => `${address} ${loopback}:${loopbackPort}\n`);
  return [...new Set(lines)].sort().join('');
}

/** What every loopback port of this machine is called on the node, whether its cable is there or not: for netstat. */
export const linkNamesText = (pairs: readonly LinkPair[], node: string): string =>
  pairs
    .filter((pair) => pair.node === node)
    .map(({ address, loopbackPort }) => `${loopbackPort} ${address}\n`)
    .sort()
    .join('');
