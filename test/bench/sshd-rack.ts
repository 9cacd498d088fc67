import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { simFolder } from '../../src/cli/state-folder.ts';
import { processStart } from '../../src/sim/host/process-identity.ts';
import { type RunNode, writeRunFile } from '../../src/sim/host/run-file.ts';
import { type KeyPair, makeKey, type Sshd, startSshd } from '../sshd/start-sshd.ts';
import { placeRoots, rackText } from './rack.ts';

/** A rack of real `sshd` processes with light fake tools, and all that either client needs to reach it. */
export interface SshdRack {
  readonly folder: string;
  readonly clusterFile: string;
  /** For `MESHWRIGHT_STATE`: holds a run file that names the sshd processes, so that `--sim` reaches them. */
  readonly stateFolder: string;
  readonly userKey: KeyPair;
  readonly knownHosts: string;
  readonly nodes: Readonly<Record<string, RunNode>>;
  readonly stop: () => Promise<void>;
}

const startedAtOnce = 8;

async function startAll(names: readonly string[], userKey: KeyPair, started: Map<string, Sshd>): Promise<void> {
  const options = { userKeys: [userKey.publicLine], config: ['LogLevel ERROR'] };
  const queue = names.values();
  const worker = async (): Promise<void> => {
    for (const name of queue) started.set(name, await startSshd(options));
  };
  await Promise.all(Array.from({ length: startedAtOnce }, worker));
}

const knownHostsText = (nodes: Readonly<Record<string, RunNode>>): string =>
  Object.values(nodes)
    .map(({ port, hostKey }) => `[127.0.0.1]:${port} ${hostKey}\n`)
    .join('');

/** Starts one sshd per node, each with a host key of its own, and writes the files that lead to them. */
export async function startSshdRack(size: number): Promise<SshdRack> {
  const folder = mkdtempSync(join(tmpdir(), 'meshwright-bench-'));
  const started = new Map<string, Sshd>();
  const stop = async (): Promise<void> => {
    await Promise.all([...started.values()].map((sshd) => sshd.stop()));
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const text = rackText(size);
    const clusterFile = join(folder, 'cluster.yaml');
    writeFileSync(clusterFile, text);
    const user = userInfo().username;
    const userKey = makeKey(folder, 'user-key');
    const roots = await placeRoots(text, join(folder, 'roots'), user);
    await startAll([...roots.keys()], userKey, started);
    const nodes = Object.fromEntries(
      [...roots].map(([name, root]): readonly [string, RunNode] => {
        const sshd = started.get(name);
        if (sshd === undefined) throw new Error(`no sshd was started for ${name}`);
        return [name, { port: sshd.port, hostKey: `${sshd.hostKey.type} ${sshd.hostKey.base64}`, root, user }];
      }),
    );
    const knownHosts = join(folder, 'known_hosts');
    writeFileSync(knownHosts, knownHostsText(nodes));
    const stateFolder = join(folder, 'state');
    const run = simFolder({ MESHWRIGHT_STATE: stateFolder }, clusterFile);
    await writeRunFile(run, await runFileOf({ run, size, clusterFile, userKey, nodes }));
    return { folder, clusterFile, stateFolder, userKey, knownHosts, nodes, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

interface RunFacts {
  readonly run: string;
  readonly size: number;
  readonly clusterFile: string;
  readonly userKey: KeyPair;
  readonly nodes: Readonly<Record<string, RunNode>>;
}

/** The run file of a fleet whose process is this one. */
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
