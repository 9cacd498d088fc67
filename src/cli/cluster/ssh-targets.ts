import { readdirSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { once } from '../../apply/once.ts';
import { type NodeTarget, openSession, type Session, type SshTarget } from '../../apply/reach/session.ts';
import { emptyLock } from '../../config/lock.ts';
import { failure } from '../../diagnostics/diagnose.ts';
import { FleetError, messageOf, systemCode } from '../../diagnostics/diagnostic.ts';
import { areaOf } from '../../engine/diagnose/rules.ts';
import type { HostKeyLock, PinnedKey } from '../../model/cluster-lock.ts';
import type { DesiredNode } from '../../model/desired.ts';
import { given } from '../../model/given.ts';
import type { NodeName } from '../../model/node.ts';
import { namedSubject } from '../../model/subject.ts';
import { named, prose } from '../../model/text/prose.ts';
import type { TrustRequest } from '../../model/trust.ts';
import { type HostKeyTrust, trustFor } from '../../remote/keys/host-key-trust.ts';
import { lookupName, type Target } from '../../remote/remote.ts';
import { createReachResolver, localReachEnv, type ReachRequest } from '../../remote/resolve-reach.ts';
import { parseRunFile, type RunFile, type RunNode, runFileName } from '../../sim/hosts/control/run-folder.ts';
import { isSameProcess } from '../../sim/hosts/processes.ts';
import { simFolder } from '../files/places.ts';
import { useLimits } from '../use-limits.ts';
import { type Run, textOption } from '../verb.ts';
import { type OpenedCluster, openLock, readLock, simLockPlace } from './open-cluster.ts';
import { fileRequest, isInCi, needTrust } from './trust.ts';

export interface TrustedTarget {
  readonly target: Target;
  readonly trust: HostKeyTrust;
}

/** The SSH targets of this run: real nodes, or simulated ones with `--sim`. */
export type SshTargets = ReturnType<typeof openTargets>;

type TargetNode = Pick<DesiredNode, 'name' | 'host'> & Partial<DesiredNode>;

/** A node's SSH target once the caller has allowed what it asks for. */
interface Reached {
  readonly requests: readonly TrustRequest[];
  readonly settle: () => Promise<TrustedTarget>;
}

type ReachNode = (node: TargetNode) => Promise<Reached>;

/** The SSH targets for one run. Reads nothing until the first use. */
export function openTargets(run: Run, cluster: Pick<OpenedCluster, 'path' | 'lock'>) {
  const reach = run.options.sim ? simulatedTargets(run, cluster.path) : realTargets(run, cluster.path, cluster.lock);
  const unlessNoWay = async <T>(node: NodeName, work: () => Promise<T>): Promise<T | SshTarget> => {
    try {
      return await work();
    } catch (error) {
      if (error instanceof FleetError && !isAboutTheRun(error)) {
        run.log?.write({ kind: 'refused', node, diagnostics: error.diagnostics });
        return { kind: 'no-way', diagnostics: error.diagnostics };
      }
      throw error;
    }
  };
  return {
    clusterFile: cluster.path,
    /** @throws FleetError if there is no SSH target, for example with a ProxyJump, which the built-in client lacks */
    settle: async (node: TargetNode): Promise<TrustedTarget> => {
      const { requests, settle } = await reach(node);
      await needTrust(run, requests);
      return settle();
    },
    /** The SSH targets of many nodes, or for each node the reasons why it has none. */
    toAll: async (nodes: readonly DesiredNode[]): Promise<readonly NodeTarget[]> => {
      const reached = await Promise.all(
        nodes.map(async (node) => ({ node: node.name, way: await unlessNoWay(node.name, () => reach(node)) })),
      );
      // One question and one error for all nodes.
      await needTrust(
        run,
        reached.flatMap(({ way }) => ('requests' in way ? way.requests : [])),
      );
      const wayTo = ({ node, way }: (typeof reached)[number]): Promise<SshTarget> | SshTarget =>
        'requests' in way ? unlessNoWay(node, async () => ({ kind: 'way', ...(await way.settle()) })) : way;
      return Promise.all(reached.map(async (one) => ({ node: one.node, way: await wayTo(one) })));
    },
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
const isAboutTheRun = (error: FleetError): boolean => areaOf(error.diagnostics[0]) !== 'ssh';

function realTargets(run: Run, clusterFile: string, lock: HostKeyLock): ReachNode {
  const resolver = createReachResolver(localReachEnv());
  const base = baseLock(run);
  return async (node) => {
    const { identityFile } = node;
    const isTyped = textOption(run, 'identity') !== undefined;
    const key =
      identityFile && !isTyped && fileRequest(run, dirname(clusterFile), identityFile, `the SSH key for ${node.name}`);
    const reach = await resolver.resolve(reachRequest(node, clusterFile));
    const name = lookupName(reach.target.host, reach.target.port);
    const isKnown =
      base === undefined || (base.hostKeys[name] !== undefined && pinsOf(base, name) === pinsOf(lock, name));
    return {
      requests: [
        ...(key ? [key] : []),
        ...(isKnown ? [] : [{ kind: 'host' as const, value: node.host, use: node.name }]),
      ],
      settle: async () => ({ target: reach.target, trust: await resolver.trust(reach, lock) }),
    };
  };
}

/** The lock whose nodes need no leave in CI, where a change of the file may not choose what is contacted. */
function baseLock(run: Run): HostKeyLock | undefined {
  if (!isInCi(run)) return undefined;
  const { baseLock: path } = run.options;
  return path === undefined ? emptyLock('') : readLock({ path: resolve(run.folder, path), shown: path });
}

/** The keys that a lock pins for an address, as text. */
const pinsOf = ({ hostKeys, prebootKeys }: HostKeyLock, name: string): string =>
  [hostKeys[name] ?? [], prebootKeys?.[name] ?? []]
    .map((keys) =>
      keys
        .map(({ type, base64 }) => `${type} ${base64}\n`)
        .sort()
        .join(''),
    )
    .join('at FileVault\n');

function reachRequest(node: TargetNode, clusterFile: string): ReachRequest {
  return {
    label: node.name,
    host: node.host,
    ...given({ user: node.user, port: node.port }),
    ...(node.identityFile === undefined ? {} : { identityFile: keyPath(node.identityFile, clusterFile) }),
  };
}

/** Leaves `~/` to {@link ReachRequest}, which knows the home folder that ssh uses. */
function keyPath(path: string, clusterFile: string): string {
  return path.startsWith('~/') || isAbsolute(path) ? path : join(dirname(clusterFile), path);
}

function simulatedTargets(run: Run, clusterFile: string): ReachNode {
  const folder = simFolder(run.env, clusterFile);
  const open = once(async () => {
    const runFile = await liveRunFile(folder);
    return { runFile, lock: simulatedPins(runFile, openLock(run, simLockPlace(folder))) };
  });
  return async (node) => {
    const { runFile, lock } = await open();
    const one = Object.hasOwn(runFile.nodes, node.name) ? runFile.nodes[node.name] : undefined;
    if (!one) throw changedSince(node.name);
    const target = simulatedTarget(node.name, one, runFile);
    return { requests: [], settle: async () => ({ target, trust: trustFor(target, { knownHosts: [], lock }) }) };
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
