import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { simFolder } from '../../src/cli/files/places.ts';
import { type RunNode, writeRunFile } from '../../src/sim/hosts/control/run-folder.ts';
import { processStart } from '../../src/sim/hosts/processes.ts';
import { type KeyPair, makeKey, type Sshd, startSshd } from '../sshd/start-sshd.ts';
import { placeRoots, rackText } from './rack.ts';

/** The folders of a rack's Macs, and the options of their servers. */
export interface RackRoots {
  /** The root folder of each node. */
  readonly roots: ReadonlyMap<string, string>;
  /** Additional lines for each server's configuration. */
  readonly config?: (root: string) => readonly string[];
  /** Ends the processes started for them. */
  readonly stop?: () => Promise<void>;
}

/** A rack of real `sshd` processes with light fake tools, and everything that either client needs to reach it. */
export interface SshdRack {
  readonly folder: string;
  readonly clusterFile: string;
  /** The folder for `MESHWRIGHT_STATE`. Its run file names the sshd processes, so that `--sim` reaches them. */
  readonly stateFolder: string;
  readonly userKey: KeyPair;
  readonly knownHosts: string;
  readonly nodes: Readonly<Record<string, RunNode>>;
  /** The log of each server since its start. */
  readonly logs: () => ReadonlyMap<string, string>;
  readonly stop: () => Promise<void>;
}

const startedAtOnce = 8;

async function startAll({ roots, config }: RackRoots, userKey: KeyPair, started: Map<string, Sshd>): Promise<void> {
  const queue = roots.entries();
  const worker = async (): Promise<void> => {
    for (const [name, root] of queue) {
      const lines = config?.(root) ?? ['LogLevel ERROR'];
      started.set(name, await startSshd({ userKeys: [userKey.publicLine], config: lines }));
    }
  };
  await Promise.all(Array.from({ length: startedAtOnce }, worker));
}

const knownHostsText = (nodes: Readonly<Record<string, RunNode>>): string =>
  Object.values(nodes)
    .map(({ port, hostKey }) => `[127.0.0.1]:${port} ${hostKey}\n`)
    .join('');

/** A rack for observations only: its Macs consist of files. */
const observedMacs = async (text: string, folder: string): Promise<RackRoots> => ({
  roots: await placeRoots(text, join(folder, 'roots'), userInfo().username),
});

/** The options of a rack. */
export interface RackOptions {
  readonly size: number;
  /** The cluster file; by default without placements. */
  readonly text?: string;
  /** Creates the Macs of a cluster file below a folder; by default Macs that can only be observed. */
  readonly macs?: (text: string, folder: string) => Promise<RackRoots>;
}

/** Starts one sshd per node with separate host keys, and writes the files with their addresses. */
export async function startSshdRack(options: RackOptions): Promise<SshdRack> {
  const { size, text = rackText(size), macs = observedMacs } = options;
  const folder = mkdtempSync(join(tmpdir(), 'meshwright-bench-'));
  const started = new Map<string, Sshd>();
  const ends: (() => Promise<void>)[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all([...[...started.values()].map((sshd) => sshd.stop()), ...ends.map((end) => end())]);
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const clusterFile = join(folder, 'cluster.yaml');
    writeFileSync(clusterFile, text);
    const userKey = makeKey(folder, 'user-key');
    const made = await macs(text, folder);
    if (made.stop !== undefined) ends.push(made.stop);
    await startAll(made, userKey, started);
    const nodes = nodesOf(made.roots, started);
    const knownHosts = join(folder, 'known_hosts');
    writeFileSync(knownHosts, knownHostsText(nodes));
    const stateFolder = join(folder, 'state');
    const run = simFolder({ MESHWRIGHT_STATE: stateFolder }, clusterFile);
    await writeRunFile(run, await runFileOf({ run, size, clusterFile, userKey, nodes }));
    const logs = (): ReadonlyMap<string, string> => new Map([...started].map(([name, sshd]) => [name, sshd.log()]));
    return { folder, clusterFile, stateFolder, userKey, knownHosts, nodes, logs, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function nodesOf(
  roots: ReadonlyMap<string, string>,
  started: ReadonlyMap<string, Sshd>,
): Readonly<Record<string, RunNode>> {
  const user = userInfo().username;
  return Object.fromEntries(
    [...roots].map(([name, root]): readonly [string, RunNode] => {
      const sshd = started.get(name);
      if (sshd === undefined) throw new Error(`no sshd was started for ${name}`);
      return [name, { port: sshd.port, hostKey: `${sshd.hostKey.type} ${sshd.hostKey.base64}`, root, user }];
    }),
  );
}

interface RunFacts {
  readonly run: string;
  readonly size: number;
  readonly clusterFile: string;
  readonly userKey: KeyPair;
  readonly nodes: Readonly<Record<string, RunNode>>;
}

/** The run file of a fleet that runs in this process. */
async function runFileOf({ run, size, clusterFile, userKey, nodes }: RunFacts) {
  return {
    simulated: true as const,
    pid: process.pid,
    pidStart: (await processStart(process.pid)) ?? '',
    startedAtEpochMs: Date.now(),
    runId: 'bench',
    cluster: `bench-${size}`,
    clusterFile,
    controlSocket: join(run, 'control.sock'),
    userKeyFile: userKey.file,
    nodes,
  };
}
