import { mkdir, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { announcedIn, type LinkPair, linkNamesText, linkTableText, pairKey } from '../../launchd/link-pairs.ts';
import type { Reach } from '../../launchd/reach.ts';
import { linkTablePath } from '../launchd/launchd-process.ts';
import { createPortClaims } from './link-table-ports.ts';

/** What the loopback ports of this machine are called on a node. */
export const linkNamesPath = '/.sim/link-names';

/** The tables that stand for the network between the simulated Macs. */
export interface LinkTables {
  /**
   * A job of this node is about to be loaded: whatever its texts name gets a loopback port, which stays the same as
   * long as the fleet lives, and the tables of all nodes know it.
   */
  readonly announce: (node: string, texts: readonly string[]) => Promise<void>;
  /** Cables, addresses or bridges have changed: what each node can reach now. */
  readonly update: (reaches: ReadonlyMap<string, Reach>) => Promise<void>;
  /** Gives the ports back. */
  readonly close: () => Promise<void>;
}

const loopback = '127.0.0.1';
/** Of a node without a cable. */
export const nowhere: Reach = { own: [], far: [] };

async function replace(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(`${path}.new`, text);
  await rename(`${path}.new`, path);
}

/** Every address on a cable that some node has now, with its node. */
const addressesOf = (reaches: ReadonlyMap<string, Reach>): readonly (readonly [node: string, host: string])[] =>
  [...reaches].flatMap(([node, { own }]) => own.map((host) => [node, host] as const));

/**
 * Keeps the tables of all nodes of a fleet. Each is a file that is replaced by a rename, so that a process can read it
 * anew for every request: an open connection on the loopback interface would not notice a pulled cable.
 *
 * @param roots root folder by node
 */
export function createLinkTables(roots: ReadonlyMap<string, string>): LinkTables {
  const claims = createPortClaims();
  const links = new Set<string>();
  const open = new Map<string, Set<number>>();
  const pairs = new Map<string, LinkPair>();
  const written = new Map<string, string>();
  let reaches: ReadonlyMap<string, Reach> = new Map();
  let turn: Promise<void> = Promise.resolve();

  const pairFor = async (node: string, address: string): Promise<void> => {
    const key = pairKey(node, address);
    if (!pairs.has(key)) pairs.set(key, { node, address, loopbackPort: await claims.take() });
  };
  const write = async (path: string, text: string): Promise<void> => {
    if (written.get(path) === text) return;
    await replace(path, text);
    written.set(path, text);
  };
  const writeAll = async (): Promise<void> => {
    for (const [node, host] of addressesOf(reaches)) {
      for (const port of open.get(node) ?? []) await pairFor(node, `${host}:${port}`);
      const named = [...links].filter((link) => link.startsWith(`${host}:`));
      for (const link of named) await pairFor(node, link);
    }
    const known = [...pairs.values()];
    for (const [node, root] of roots) {
      await write(root + linkTablePath, linkTableText(known, node, reaches.get(node) ?? nowhere));
      await write(root + linkNamesPath, linkNamesText(known, node));
    }
  };
  const inTurn = (act: () => Promise<void>): Promise<void> => {
    turn = turn.catch(() => undefined).then(act);
    return turn;
  };
  return {
    announce: (node, texts) =>
      inTurn(async () => {
        const announced = announcedIn(texts);
        for (const link of announced.links) links.add(link);
        open.set(node, new Set([...(open.get(node) ?? []), ...announced.openPorts]));
        for (const port of announced.loopbackPorts) await pairFor(node, `${loopback}:${port}`);
        await writeAll();
      }),
    update: (wanted) =>
      inTurn(async () => {
        reaches = wanted;
        await writeAll();
      }),
    close: () => inTurn(claims.close),
  };
}
