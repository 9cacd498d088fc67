import { join, resolve } from 'node:path';
import { diagnose } from '../../diagnostics/diagnose.ts';
import { FleetError } from '../../diagnostics/diagnostic.ts';
import type { ClusterLock } from '../../model/cluster-lock.ts';
import type { DesiredNode } from '../../model/desired.ts';
import { nodeName } from '../../model/node.ts';
import { meshwright } from '../../model/text/command.ts';
import { prose } from '../../model/text/prose.ts';
import { isHost, isTcpPort, isUser } from '../../remote/remote.ts';
import { createLockKeeper, type LockKeeper, simLockName, simLockPath } from '../cluster/lock-file.ts';
import { type OpenedCluster, openCluster, openLock, readLock, targetedNodes } from '../cluster/open-cluster.ts';
import { namedTargets } from '../cluster/targets.ts';
import { openWays, type Ways } from '../cluster/ways.ts';
import { findClusterFile } from '../files/find-cluster.ts';
import { shownPath } from '../files/read-file.ts';
import { simFolder } from '../files/state-folder.ts';
import { type Run, usageError } from '../verb.ts';

/** Who is to be enrolled, how they are reached, and where their pins go. */
export interface EnrollSubjects {
  readonly subjects: readonly DesiredNode[];
  /** Every node of the file; empty without one. */
  readonly nodes: readonly DesiredNode[];
  readonly ways: Ways;
  readonly keeper: LockKeeper;
}

/**
 * Nodes of the file by name, and addresses: before there is a file, or of a Mac that is not in it yet.
 * @throws FleetError `enroll/no-such-node` or `cli/usage`
 */
export function enrollSubjects(run: Run): EnrollSubjects {
  const hasFile = findClusterFile(run.options.file, run.env, run.folder) !== undefined;
  return hasFile ? fromFile(run, openCluster(run)) : fromAddresses(run);
}

function fromFile(run: Run, cluster: OpenedCluster): EnrollSubjects {
  const words = namedTargets(run, cluster.fleet);
  const isNode = (word: string): boolean => cluster.fleet.nodes.some((node) => node.name === word);
  const addresses = words.filter((word) => !isNode(word) && /[.:]/.test(word));
  const names = words.filter((word) => !addresses.includes(word));
  const nodes = names.length > 0 || addresses.length === 0 ? targetedNodes(run, cluster.fleet, names) : [];
  const folder = simFolder(run.env, cluster.path);
  const path = run.options.sim ? simLockPath(folder) : cluster.lockPath;
  const shown = run.options.sim ? simLockName : shownPath(run.folder, path);
  const lock = run.options.sim ? readLock(path, shown) : cluster.lock;
  if (addresses.length === 0) refuseAddressOptions(run);
  return {
    subjects: [...nodes, ...addresses.map((word) => addressSubject(run, word))],
    nodes: cluster.fleet.nodes,
    ways: openWays(run, cluster),
    keeper: createLockKeeper({ path, shown, lock }),
  };
}

/** What the file says of a node is not overruled in silence. */
function refuseAddressOptions(run: Run): void {
  const given = ['user', 'port', 'identity'].find((name) => run.own[name] !== undefined);
  if (given === undefined) return;
  throw usageError(
    `--${given} is for an address that is in no file.`,
    'Correct the cluster file, or name an address instead of a node.',
  );
}

function fromAddresses(run: Run): EnrollSubjects {
  if (run.options.sim || run.own['all'] === true || run.options.nodes || run.options.label) {
    throw new FleetError([
      diagnose('cli/no-cluster-file', { detail: 'This needs a cluster file, and there is none.' }),
    ]);
  }
  if (run.words.length === 0)
    throw usageError('No node is named.', prose`Name an address: ${meshwright('enroll', 'studio-1.lan')}`);
  const path = join(run.folder, 'cluster.lock');
  const lock: ClusterLock = openLock(run, path, 'cluster.lock');
  return {
    subjects: run.words.map((word) => addressSubject(run, word)),
    nodes: [],
    ways: openWays(run, { path: join(run.folder, 'cluster.yaml'), lock }),
    keeper: createLockKeeper({ path, shown: 'cluster.lock', lock }),
  };
}

function addressSubject(run: Run, host: string): DesiredNode {
  if (!isHost(host)) {
    throw new FleetError([
      diagnose('enroll/no-such-node', {
        detail: `${JSON.stringify(host)} is neither a node of the file nor an address.`,
      }),
    ]);
  }
  const { user, port, identity } = run.own;
  if (user !== undefined && !(typeof user === 'string' && isUser(user))) {
    throw usageError(`${JSON.stringify(user)} is no account name.`, 'Letters, digits, dots, dashes and underscores.');
  }
  if (port !== undefined && !isTcpPort(Number(port))) {
    throw usageError(`${JSON.stringify(port)} is no port.`, 'A whole number from 1 to 65535.');
  }
  return {
    name: nodeName(host),
    host,
    hardware: {},
    labels: {},
    ...(typeof user === 'string' ? { user } : {}),
    ...(port === undefined ? {} : { port: Number(port) }),
    ...(typeof identity === 'string' ? { identityFile: typedPath(run, identity) } : {}),
  };
}

/** A path of the command line starts in the current folder, not where a file lies; `~/` is expanded once, later. */
const typedPath = (run: Run, path: string): string => (path.startsWith('~/') ? path : resolve(run.folder, path));
