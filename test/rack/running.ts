import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import ssh2, { type Client, type ConnectConfig } from 'ssh2';
import type { NodeTarget } from '../../src/apply/reach/session.ts';
import type { PinnedKey } from '../../src/model/cluster-lock.ts';
import type { DesiredFleet } from '../../src/model/desired.ts';
import { nodeName } from '../../src/model/node.ts';
import { trustFor } from '../../src/remote/keys/host-key-trust.ts';
import type { Target } from '../../src/remote/remote.ts';
import type { RunNode } from '../../src/sim/hosts/control/run-folder.ts';
import type { Fleet, RunningFleet, StartFleetOptions } from '../../src/sim/hosts/control/start-fleet.ts';
import type { FleetModel } from '../../src/sim/hosts/fleet-model.ts';
import { modelledFleet } from '../../src/sim/hosts/modelled-fleet.ts';
import type { Ailments, ConnectionState } from '../../src/sim/model/fleet.ts';
import type { NodeFile } from '../../src/sim/model/node-files.ts';
import { processesBelow } from '../processes-below.ts';
import { eventually, longestWaitMs } from '../until.ts';

export { eventually };

/**
 * Fails if a process that was started with a path in this folder is still alive at the end of a test. Recently killed
 * processes get some time to exit.
 */
export async function expectNobodyBelow(folder: string): Promise<void> {
  if (await eventually(() => processesBelow(folder).length === 0)) return;
  throw new Error(`still running:\n${processesBelow(folder).join('\n')}`);
}

/** A model without a Mac: nodes whose connection and files a test can change. */
export function bareModel(names: readonly string[], connection: Partial<ConnectionState> = {}): FleetModel {
  const files: readonly NodeFile[] = [
    { path: '/.sim/sudo', text: 'allowed\n', isExecutable: false },
    { path: '/.sim/clock-offset', text: '0\n', isExecutable: false },
  ];
  const ailments: Ailments = { deadReceptacles: [], hasFullDiskAccess: true };
  return {
    name: 'bare',
    nodes: names.map((name) => ({ name, user: 'mesh' })),
    viewOf: () => ({
      connection: { hostKey: 'own', filevault: 'unlocked', ...connection },
      password: 'simulated',
      hasKey: true,
      files,
      ailments,
      comesBackAfterPowerLoss: true,
      bootCount: 0,
    }),
    faults: () => [],
    setFault: () => ({ kind: 'done', faults: [] }),
    clearFault: () => ({ kind: 'done', faults: [] }),
    write: () => ({ stdout: '', stderr: '', exitCode: 127, isKnown: false, isChange: false }),
    reread: () => undefined,
    happen: () => undefined,
    hands: () => ({ done: [], restarts: [] }),
    act: () => ({ kind: 'done', done: [], restarts: [] }),
    reusesDisk: () => false,
    save: () => undefined,
  };
}

/** A fresh folder that the caller removes. */
export const freshFolder = (name = 'mw-test-'): Promise<string> => mkdtemp(join(tmpdir(), name));

/** The result of a command. */
export interface Ran {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Collects the output of a child process, which is killed if it hangs. */
function collect(child: ChildProcess, input?: string): Promise<Ran> {
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  child.stdout?.on('data', (chunk: Buffer) => out.push(chunk));
  child.stderr?.on('data', (chunk: Buffer) => err.push(chunk));
  child.stdin?.on('error', () => undefined);
  child.stdin?.end(input);
  const timer = setTimeout(() => child.kill('SIGKILL'), longestWaitMs);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      clearTimeout(timer);
      resolve({ code, signal, stdout: Buffer.concat(out).toString(), stderr: Buffer.concat(err).toString() });
    });
  });
}

/** Arguments that make `ssh` ignore the configuration and keys of the person who runs the tests. */
function sshArguments(fleet: RunningFleet, node: string, knownHosts: string): readonly string[] {
  const { port, user } = fleet.nodes[node] ?? { port: 0, user: '' };
  const options = [
    'IdentitiesOnly=yes',
    'IdentityAgent=none',
    `UserKnownHostsFile="${knownHosts}"`,
    'GlobalKnownHostsFile=/dev/null',
    'StrictHostKeyChecking=accept-new',
    'BatchMode=yes',
    'LogLevel=ERROR',
  ];
  const flags = options.flatMap((option) => ['-o', option]);
  return ['-F', '/dev/null', '-i', fleet.userKey.path, ...flags, '-p', String(port), `${user}@127.0.0.1`];
}

/** Runs one command on a node with the `ssh` program. */
export function openSsh(fleet: RunningFleet, node: string, words: readonly string[], input?: string): Promise<Ran> {
  const args = sshArguments(fleet, node, join(fleet.userKey.path, '..', 'test-known-hosts'));
  const before = words.filter((word) => word.startsWith('-'));
  const command = words.filter((word) => !word.startsWith('-'));
  return collect(spawn('ssh', [...before, ...args, ...command], { stdio: 'pipe' }), input);
}

/** A logged-in ssh2 client. */
export function connect(fleet: RunningFleet, node: string, more: Partial<ConnectConfig> = {}): Promise<Client> {
  const client = new ssh2.Client();
  const { port, user } = fleet.nodes[node] ?? { port: 0, user: '' };
  return new Promise((resolve, reject) => {
    client.on('error', reject);
    client.once('ready', () => resolve(client));
    const { privateText } = fleet.userKey;
    client.connect({ host: '127.0.0.1', port, username: user, privateKey: privateText, readyTimeout: 60_000, ...more });
  });
}

/** Runs one command over a logged-in client. */
export function run(client: Client, command: string, input?: string): Promise<Ran> {
  return new Promise((resolve, reject) => {
    client.exec(command, (error, channel) => {
      if (error) {
        reject(error);
        return;
      }
      let stdout = '';
      let stderr = '';
      let exit: { readonly code: number | null; readonly signal: string | null } = { code: null, signal: null };
      channel.on('data', (chunk: Buffer) => {
        stdout += chunk.toString();
      });
      channel.stderr.on('data', (chunk: Buffer) => {
        stderr += chunk.toString();
      });
      channel.on('exit', (code: number | null, signal?: string) => {
        exit = { code, signal: signal ?? null };
      });
      channel.once('close', () => resolve({ ...exit, stdout, stderr }));
      if (input !== undefined) channel.end(input);
    });
  });
}

/** The PIDs of live processes with a run's mark in their environment; Linux only. */
export async function markedProcesses(runId: string): Promise<readonly number[]> {
  const numbers = (await readdir('/proc')).filter((name) => /^[0-9]+$/.test(name));
  const found = await Promise.all(
    numbers.map(async (name) => {
      const environment = await readFile(`/proc/${name}/environ`, 'latin1').catch(() => '');
      return environment.includes(`MW_SIM=${runId}.`) ? [Number(name)] : [];
    }),
  );
  return found.flat();
}

/** The command line of a supervisor for two nodes in `folder`. */
export function supervisorEntry(folder: string): readonly [string, ...string[]] {
  const tsx = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
  const entry = fileURLToPath(new URL('../scenarios/sim-supervisor-entry.ts', import.meta.url));
  return [process.execPath, '--import', tsx, entry, folder];
}

/** Removes a test's folder. */
export const removeFolder = (folder: string): Promise<void> => rm(folder, { recursive: true, force: true });

/** A simulated rack in this process, with its SSH targets. */
export interface RunningRack<F extends RunningFleet = Fleet> {
  /** Private to the test; removed at the end. */
  readonly folder: string;
  readonly fleet: F;
  readonly desired: DesiredFleet;
  readonly names: readonly string[];
  readonly way: (node: string, change?: WayChange) => NodeTarget;
  /** The text of a node's file, by its path on a Mac; undefined if the file does not exist. */
  readonly read: (node: string, path: string) => string | undefined;
  readonly stop: () => Promise<void>;
}

/** Starts the Macs in a file on a host. The same seed yields the same Macs. */
export async function startRack<F extends RunningFleet>(
  start: (options: StartFleetOptions) => Promise<F>,
  { desired, seed, clockFactor }: { desired: DesiredFleet; seed: string; clockFactor?: number },
): Promise<RunningRack<F>> {
  const folder = await freshFolder();
  const model = modelledFleet(desired, seed);
  const clock = clockFactor === undefined ? {} : { clockFactor };
  const fleet = await start({ folder: join(folder, 'run'), model, ...clock });
  return {
    folder,
    fleet,
    desired,
    names: desired.nodes.map(({ name }) => name),
    way: (node, change) => wayTo(fleet, node, change),
    read: (node, path) => {
      const file = (fleet.nodes[node]?.root ?? '') + path;
      return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
    },
    stop: async () => {
      await fleet.stop();
      await removeFolder(folder);
      await expectNobodyBelow(folder);
    },
  };
}

/** Changes to an SSH target: another port (of a proxy or an sshd) with another host key. */
export interface WayChange {
  readonly port?: number;
  readonly user?: string;
  /** The host key at that port, as `type base64`. */
  readonly hostKey?: string;
  readonly rootPrefix?: string;
}

const pinOf = (line = ''): readonly PinnedKey[] => {
  const [type = '', base64 = ''] = line.split(' ');
  return line === '' ? [] : [{ type, base64, line: 1 }];
};

/** The parts of a fleet that an SSH target needs. */
interface Reachable {
  readonly nodes: Readonly<Record<string, RunNode & Pick<RunningFleet['nodes'][string], 'prebootKey'>>>;
  readonly userKey: Pick<RunningFleet['userKey'], 'path'>;
}

/** The SSH target of a node in a fleet. */
export function wayTo({ nodes, userKey }: Reachable, node: string, change: WayChange = {}): NodeTarget {
  const straight = nodes[node];
  if (straight === undefined) throw new Error(`no simulated ${node}`);
  const target: Target = {
    label: node,
    host: '127.0.0.1',
    port: change.port ?? straight.port,
    user: change.user ?? straight.user,
    rootPrefix: change.rootPrefix ?? straight.root,
    identityFiles: [userKey.path],
    isIdentitiesOnly: true,
  };
  const address = `[127.0.0.1]:${target.port}`;
  const lock = {
    file: 'cluster.lock',
    hostKeys: { [address]: pinOf(change.hostKey ?? straight.hostKey) },
    prebootKeys: { [address]: pinOf(straight.prebootKey) },
  };
  return { node: nodeName(node), way: { kind: 'way', target, trust: trustFor(target, { knownHosts: [], lock }) } };
}

/** Runs a script on a node, through standard input like the product; `$R` is the node's root. */
export async function sh(
  fleet: RunningFleet,
  node: string,
  script: string,
  by: 'root' | 'user' = 'root',
): Promise<Ran> {
  const client = await connect(fleet, node);
  const root = fleet.nodes[node]?.root ?? '';
  const sudo = by === 'root' ? `'${root}/usr/bin/sudo' -n ` : '';
  try {
    return await run(client, `exec ${sudo}'${root}/bin/sh' -s`, `R='${root}'\n${script}\n`);
  } finally {
    client.end();
  }
}
