import { readdirSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { type NodeTarget, openSession, type Session, type SshTarget } from '../../apply/reach/session.ts';
import { failure } from '../../diagnostics/diagnose.ts';
import { FleetError, messageOf, systemCode } from '../../diagnostics/diagnostic.ts';
import type { HostKeyLock, PinnedKey } from '../../model/cluster-lock.ts';
import type { DesiredNode } from '../../model/desired.ts';
import { given } from '../../model/given.ts';
import { namedSubject } from '../../model/subject.ts';
import { named, prose } from '../../model/text/prose.ts';
import { type HostKeyTrust, trustFor } from '../../remote/keys/host-key-trust.ts';
import type { Target } from '../../remote/remote.ts';
import { createReachResolver, localReachEnv, type ReachWish } from '../../remote/resolve-reach.ts';
import { parseRunFile, type RunFile, type RunNode, runFileName } from '../../sim/hosts/control/run-folder.ts';
import { isSameProcess } from '../../sim/hosts/processes.ts';
import { simFolder } from '../files/places.ts';
import { useLimits } from '../use-limits.ts';
import type { Run } from '../verb.ts';
import { type OpenedCluster, openLock, simLockPlace } from './open-cluster.ts';

/** A node's SSH target, and the host keys to trust. */
export interface Settled {
  readonly target: Target;
  readonly trust: HostKeyTrust;
}

/** The SSH targets of this run: real nodes, or simulated ones with `--sim`. */
export interface SshTargets {
  /** The cluster file's path. */
  readonly clusterFile: string;
  /** @throws FleetError if there is no SSH target, for example with a ProxyJump, which the built-in client lacks */
  readonly settle: (node: Pick<DesiredNode, 'name' | 'host'> & Partial<DesiredNode>) => Promise<Settled>;
  /** The SSH targets of many nodes, or for each node the reasons why it has none. */
  readonly toAll: (nodes: readonly DesiredNode[]) => Promise<readonly NodeTarget[]>;
}

/** The SSH targets for one run. Reads nothing until the first use. */
export function openTargets(run: Run, cluster: Pick<OpenedCluster, 'path' | 'lock'>): SshTargets {
  const settle = run.options.sim ? simulatedTargets(run, cluster.path) : realTargets(cluster.path, cluster.lock);
  const to = async (node: DesiredNode): Promise<SshTarget> => {
    try {
      return { kind: 'way', ...(await settle(node)) };
    } catch (error) {
      if (error instanceof FleetError && !isAboutTheRun(error)) {
        run.log?.write({ kind: 'refused', node: node.name, diagnostics: error.diagnostics });
        return { kind: 'no-way', diagnostics: error.diagnostics };
      }
      throw error;
    }
  };
  return {
    clusterFile: cluster.path,
    settle,
    toAll: (nodes) => Promise.all(nodes.map(async (node) => ({ node: node.name, way: await to(node) }))),
  };
}

const retryMs = 500;

/** Connections to nodes, in node order. Only the caller and {@link closeAll} close them, not the run's signal. */
export async function openSessions(
  run: Run,
  ways: SshTargets,
  nodes: readonly DesiredNode[],
): Promise<readonly Session[]> {
  const { signal: _ended, ...limits } = useLimits(run);
  return (await ways.toAll(nodes)).map((way) => openSession(way, { ...limits, retryMs }));
}

export function closeAll(sessions: readonly Session[]): void {
  for (const session of sessions) session.close();
}

/** Without a simulator, or with a damaged lock, no node is reachable. This ends the run, not each node. */
const isAboutTheRun = (error: FleetError): boolean => !error.diagnostics[0].code.startsWith('ssh/');

function realTargets(clusterFile: string, lock: HostKeyLock): SshTargets['settle'] {
  const resolver = createReachResolver(localReachEnv());
  return async (node) => {
    const reach = await resolver.resolve(wishFor(node, clusterFile));
    return { target: reach.target, trust: await resolver.trust(reach, lock) };
  };
}

function wishFor(node: Parameters<SshTargets['settle']>[0], clusterFile: string): ReachWish {
  return {
    label: node.name,
    host: node.host,
    ...given({ user: node.user, port: node.port }),
    ...(node.identityFile === undefined ? {} : { identityFile: keyPath(node.identityFile, clusterFile) }),
  };
}

/** Leaves `~/` to {@link ReachWish}, which knows the home folder that ssh uses. */
function keyPath(path: string, clusterFile: string): string {
  return path.startsWith('~/') || isAbsolute(path) ? path : join(dirname(clusterFile), path);
}

function simulatedTargets(run: Run, clusterFile: string): SshTargets['settle'] {
  const folder = simFolder(run.env, clusterFile);
  let opened: Promise<{ runFile: RunFile; lock: HostKeyLock }> | undefined;
  const open = async (): Promise<{ runFile: RunFile; lock: HostKeyLock }> => {
    const runFile = await liveRunFile(folder);
    return { runFile, lock: simulatedPins(runFile, openLock(run, simLockPlace(folder))) };
  };
  return async (node) => {
    opened ??= open();
    const { runFile, lock } = await opened;
    const one = Object.hasOwn(runFile.nodes, node.name) ? runFile.nodes[node.name] : undefined;
    if (!one) throw changedSince(node.name);
    const target = simulatedTarget(node.name, one, runFile);
    return { target, trust: trustFor(target, { knownHosts: [], lock }) };
  };
}

/** A simulated fleet's pins: the keys in its run file, overridden by pins from `enroll --sim`. */
function simulatedPins({ nodes }: RunFile, { file, hostKeys, prebootKeys }: HostKeyLock): HostKeyLock {
  const pin = (port: number, key: string): readonly [string, readonly PinnedKey[]] => {
    const [type = '', base64 = ''] = key.split(' ');
    return [`[127.0.0.1]:${port}`, [{ type, base64, line: 1 }]];
  };
  const all = Object.values(nodes);
  const own = all.map(({ port, hostKey }) => pin(port, hostKey));
  const preboot = all.flatMap(({ port, prebootKey }) => (prebootKey === undefined ? [] : [pin(port, prebootKey)]));
  return {
    file,
    hostKeys: { ...Object.fromEntries(own), ...hostKeys },
    prebootKeys: { ...Object.fromEntries(preboot), ...prebootKeys },
  };
}

const simulatedTarget = (label: string, node: RunNode, runFile: RunFile): Target => ({
  label,
  host: '127.0.0.1',
  port: node.port,
  user: node.user,
  rootPrefix: node.root,
  identityFiles: [runFile.userKeyFile],
  isIdentitiesOnly: true,
});

/** The run file of a simulated fleet that is running. @throws FleetError `sim/not-running`, `sim/run-folder`. */
async function liveRunFile(folder: string): Promise<RunFile> {
  const runFile = await parseRunFile(folder, runFileName);
  if (runFile && (await isSameProcess(runFile.pid, runFile.pidStart))) return runFile;
  requireReadable(folder);
  throw failure('sim/not-running', { detail: 'No simulated fleet is running for this cluster file.' });
}

const changedSince = (name: string): FleetError =>
  failure('sim/other-file', {
    detail: prose`The simulated fleet has no node ${named(name)}: the cluster file was changed after \`sim up\`.`,
  });

/** Accepts a missing folder (no fleet is up). @throws FleetError `sim/run-folder` for an unreadable folder */
export function requireReadable(folder: string): void {
  try {
    readdirSync(folder);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return;
    const detail = `${folder} cannot be used: ${messageOf(error)}.`;
    const hint = 'Set MESHWRIGHT_STATE to a folder that this user can read and write, or unset this variable.';
    throw failure('sim/run-folder', { detail, hint, subject: namedSubject(folder) }, { cause: error });
  }
}
