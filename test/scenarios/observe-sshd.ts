import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { NodeTarget } from '../../src/apply/reach/session.ts';
import type { RunningRack } from '../rack/running.ts';
import { writeForcedCommand } from '../sshd/forced-command.ts';
import { type Sshd, startSshd } from '../sshd/start-sshd.ts';

/** OpenSSH servers in front of the roots of a simulated rack, one per node. */
export interface SshdRack {
  readonly servers: Readonly<Record<string, Sshd>>;
  readonly way: (node: string, port?: number) => NodeTarget;
  /** Every command that the node's sshd received, byte for byte, in order. */
  readonly commands: (node: string) => Promise<readonly string[]>;
  /** Counts from the server's log since the rack started: accepted connections and opened sessions. */
  readonly counts: (node: string) => { readonly connections: number; readonly sessions: number };
  readonly stop: () => Promise<void>;
}

/** Options of the servers. */
export interface SshdRackOptions {
  /** Lines of sshd_config. */
  readonly config?: readonly string[];
  /** Text that is printed before and after every command on both streams, as rc and logout files do. */
  readonly noise?: string;
}

const countOf = (text: string, pattern: RegExp): number => [...text.matchAll(pattern)].length;

/** Starts one sshd per node of the rack. */
export async function startSshdRack(rack: RunningRack, options: SshdRackOptions = {}): Promise<SshdRack> {
  const recordOf = (node: string): string => join(rack.folder, `${node}.commands`);
  const start = async (node: string): Promise<readonly [string, Sshd]> => {
    const script = join(rack.folder, `${node}.forced`);
    await writeFile(recordOf(node), '');
    const { root = '', user = '' } = rack.fleet.nodes[node] ?? {};
    await writeForcedCommand(script, { root, user, record: recordOf(node), noise: options.noise });
    const config = [`ForceCommand ${script}`, ...(options.config ?? [])];
    return [node, await startSshd({ userKeys: [rack.fleet.userKey.publicText], config })];
  };
  const servers = Object.fromEntries(await Promise.all(rack.names.map(start)));
  const read = (node: string) => {
    const log = servers[node]?.log() ?? '';
    return {
      connections: countOf(log, /Connection from 127\.0\.0\.1 port/g),
      sessions: countOf(log, /Starting session:/g),
    };
  };
  const before = Object.fromEntries(rack.names.map((node) => [node, read(node)]));
  return {
    servers,
    way: (node, port) => {
      const server = servers[node];
      if (server === undefined) throw new Error(`no sshd for ${node}`);
      return rack.way(node, { port: port ?? server.port, user: server.user, hostKey: server.hostKey.publicLine });
    },
    commands: async (node) => (await readFile(recordOf(node), 'utf8')).split('\0').slice(0, -1),
    counts: (node) => {
      const now = read(node);
      return {
        connections: now.connections - (before[node]?.connections ?? 0),
        sessions: now.sessions - (before[node]?.sessions ?? 0),
      };
    },
    stop: async () => {
      await Promise.all(Object.values(servers).map((server) => server.stop()));
    },
  };
}
