import { randomInt } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import { createServer } from 'node:net';
import type { UsableAddresses } from '../model/wiring.ts';
import { linkTablePath } from './launchd-process.ts';
import { replaceFile } from './replace-file.ts';
import { createTurns } from './turns.ts';

const loopback = '127.0.0.1';

const loopbackNames = ['127.0.0.1', 'localhost', '0.0.0.0'];
/** exo accepts its peers on all addresses, at the port after one of these options. */
const openFlags = ['--zenoh-port', '--libp2p-port'];
const isPort = (port: number): boolean => port >= 1024 && port <= 65_535;

/**
 * Finds everything in a job's texts that may be an address with a port, or only a port (an integer from 1024, as a
 * whole word or after `=`). These are addresses on cables such as `10.77.0.1:51000`, ports on the job's loopback, and
 * ports on which the job listens on all addresses of its node, with one socket per address (open) or with one socket
 * (everywhere, such as `0.0.0.0:8080`). False matches are harmless, because an unused pair is just a line in the table.
 */
export function announcedIn(texts: readonly string[]) {
  const links = new Set<string>();
  const ports = new Set<number>();
  const everywhere = new Set<number>();
  for (const [at, text] of texts.entries()) {
    // An address and its port can also be two words: `--listen 10.77.0.1 51000`.
    const joined = /^\d{1,3}(?:\.\d{1,3}){3}$/.test(text) ? `${text}:${texts[at + 1] ?? ''}` : text;
    for (const [, address = '', digits = ''] of joined.matchAll(
      /(\d{1,3}(?:\.\d{1,3}){3}|localhost):(\d{1,5})(?!\d)/g,
    )) {
      if (!isPort(Number(digits))) continue;
      if (address === '0.0.0.0') everywhere.add(Number(digits));
      if (loopbackNames.includes(address)) ports.add(Number(digits));
      else links.add(`${address}:${digits}`);
    }
    const [, alone = ''] = /^(?:[^=\s]{1,80}=)?(\d{4,5})$/.exec(text) ?? [];
    if (alone !== '' && isPort(Number(alone))) ports.add(Number(alone));
  }
  const open = texts.flatMap((text, at) => (openFlags.includes(texts[at - 1] ?? '') ? [Number(text)] : []));
  return {
    links: [...links],
    loopbackPorts: [...ports],
    openPorts: open.filter(isPort),
    everywherePorts: [...everywhere],
  };
}

/** One address of one node, with the loopback port of this machine that represents it. */
interface LinkPair {
  readonly node: string;
  /** `10.77.0.1:51000` */
  readonly address: string;
  readonly loopbackPort: number;
  /** One socket listens at this port of every address of the node. */
  readonly isEverywhere?: boolean;
}

/** One node's table: where its processes can listen, and connect to. A line is `10.77.0.1:51000 127.0.0.1:23211`. */
function linkTableText(pairs: readonly LinkPair[], node: string, reach: UsableAddresses | undefined): string {
  const isReached = (pair: LinkPair): boolean => {
    const host = pair.address.slice(0, pair.address.lastIndexOf(':'));
    if (pair.node === node && (host === loopback || reach?.own.includes(host))) return true;
    return reach?.far.some((far) => far.node === pair.node && far.address === host) === true;
  };
  const lines = pairs.filter(isReached).map(({ address, loopbackPort }) => `${address} ${loopback}:${loopbackPort}\n`);
  return [...new Set([...lines, ...pairs.flatMap((pair) => everywhereLines(pair, node, reach))])].sort().join('');
}

/** The names and addresses at which this node reaches a port on which one socket listens everywhere. */
function everywhereLines(pair: LinkPair, node: string, reach: UsableAddresses | undefined): readonly string[] {
  if (pair.isEverywhere !== true || reach === undefined) return [];
  const { own, far, named = [] } = reach;
  const hosts = [...own.map((address) => ({ node, address })), ...far, ...named].filter(
    (one) => one.node === pair.node && !loopbackNames.includes(one.address),
  );
  const port = pair.address.slice(pair.address.lastIndexOf(':'));
  return hosts.map(({ address }) => `${address}${port} ${loopback}:${pair.loopbackPort}\n`);
}

/** The node's names for all loopback ports of this machine, with or without a cable, for netstat. */
const linkNamesText = (pairs: readonly LinkPair[], node: string): string =>
  pairs
    .filter((pair) => pair.node === node)
    .map(({ address, loopbackPort }) => `${loopbackPort} ${address}\n`)
    .sort()
    .join('');

/** A port range below the ports that Linux (from 32768) and macOS (from 49152) use for outgoing connections. */
const range = { from: 20_000, to: 32_768 } as const;
const attempts = 200;

/** Opens a UDP socket with the port's number, as every simulator does first, so that no two use the same port. */
function claim(port: number): Promise<Socket | undefined> {
  const socket = createSocket('udp4');
  return new Promise((resolve) => {
    socket.once('error', () => {
      socket.close();
      resolve(undefined);
    });
    socket.bind({ port, address: loopback, exclusive: true }, () => resolve(socket.unref()));
  });
}

function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, loopback, () => server.close(() => resolve(true)));
  });
}

/** Creates an allocator of loopback ports that no other simulator uses. */
export function createPortClaims() {
  const held = new Set<Socket>();
  return {
    /** A TCP port of 127.0.0.1 on which a process can listen later: if possible, the preferred one. */
    take: async (preferred?: number): Promise<number> => {
      for (let attempt = 0; attempt < attempts; attempt += 1) {
        const port = attempt === 0 && preferred !== undefined ? preferred : randomInt(range.from, range.to);
        const socket = await claim(port);
        if (socket === undefined) continue;
        if (await isFree(port)) {
          held.add(socket);
          return port;
        }
        socket.close();
      }
      throw new Error(`no free loopback port between ${range.from} and ${range.to}`);
    },
    close: async (): Promise<void> => {
      await Promise.all([...held].map((socket) => new Promise<void>((resolve) => socket.close(() => resolve()))));
      held.clear();
    },
  };
}

/** File with the node's names for the loopback ports of this machine. */
export const linkNamesPath = '/.sim/link-names';

/** File with the addresses that a node can use, for the error of a connection to an address without a place. */
const linkReachPath = '/.sim/link-reach';

const linkReachText = (reach: UsableAddresses | undefined): string =>
  [
    ...(reach?.own ?? []).map((address) => `own ${address}\n`),
    ...(reach?.far ?? []).map(({ address }) => `far ${address}\n`),
  ].join('');

/** The addresses that each node can use; undefined for nodes without a cable. */
type Reaches = ReadonlyMap<string, UsableAddresses | undefined>;

/**
 * Maintains the link tables of all nodes in a fleet. Each table is a file that is replaced by a rename. Processes read
 * the table for every request, because an open loopback connection would not notice a pulled cable.
 *
 * @param roots root folder by node
 */
export function createLinkTables(roots: ReadonlyMap<string, string>) {
  const claims = createPortClaims();
  const links = new Set<string>();
  const open = new Map<string, Set<number>>();
  const pairs = new Map<string, LinkPair>();
  const written = new Map<string, string>();
  let reaches: Reaches = new Map();
  const inTurn = createTurns();

  const pairFor = async (node: string, address: string): Promise<void> => {
    const key = `${node} ${address}`;
    if (!pairs.has(key)) pairs.set(key, { node, address, loopbackPort: await claims.take() });
  };
  const write = async (path: string, text: string): Promise<void> => {
    if (written.get(path) === text) return;
    await replaceFile(path, text);
    written.set(path, text);
  };
  const writeAll = async (): Promise<void> => {
    const own = [...reaches].flatMap(([node, reach]) => (reach?.own ?? []).map((host) => ({ node, host })));
    for (const { node, host } of own) {
      for (const port of open.get(node) ?? []) await pairFor(node, `${host}:${port}`);
      for (const link of links) if (link.startsWith(`${host}:`)) await pairFor(node, link);
    }
    const known = [...pairs.values()];
    for (const [node, root] of roots) {
      await write(root + linkTablePath, linkTableText(known, node, reaches.get(node)));
      await write(root + linkNamesPath, linkNamesText(known, node));
      await write(root + linkReachPath, linkReachText(reaches.get(node)));
    }
  };
  return {
    /**
     * Call this before a job is loaded or a program listens on this node. Every address in the job's texts gets a loopback port, which is
     * the same until the fleet stops. All tables are updated.
     */
    announce: (node: string, texts: readonly string[]): Promise<void> =>
      inTurn(async () => {
        const announced = announcedIn(texts);
        for (const link of announced.links) links.add(link);
        open.set(node, new Set([...(open.get(node) ?? []), ...announced.openPorts]));
        for (const port of announced.loopbackPorts) await pairFor(node, `${loopback}:${port}`);
        for (const port of announced.everywherePorts) {
          const key = `${node} ${loopback}:${port}`;
          const pair = pairs.get(key);
          if (pair !== undefined) pairs.set(key, { ...pair, isEverywhere: true });
        }
        await writeAll();
      }),
    /** To be called after cables, addresses or bridges changed. An sshd has one port at all addresses of its node. */
    update: (wanted: Reaches, sshPorts: ReadonlyMap<string, number> = new Map()): Promise<void> =>
      inTurn(async () => {
        reaches = wanted;
        for (const [node, loopbackPort] of sshPorts) {
          for (const host of reaches.get(node)?.own ?? []) {
            const address = `${host}:${loopbackPort}`;
            pairs.set(`${node} ${address}`, { node, address, loopbackPort });
          }
        }
        await writeAll();
      }),
    /** The loopback port that represents a port of a node; undefined if nothing on the node has announced it. */
    realPort: (node: string, port: number) => pairs.get(`${node} ${loopback}:${port}`)?.loopbackPort,
    close: (): Promise<void> => inTurn(claims.close),
  };
}

export type LinkTables = ReturnType<typeof createLinkTables>;
