import { join } from 'node:path';
import type { HostKeyLock, PinnedKey } from '../../model/cluster-lock.ts';
import type { RunFile } from '../../sim/hosts/control/run-file.ts';
import type { Run } from '../verb/verb.ts';
import { openLock } from './open-cluster.ts';

/** Where pins of a simulated fleet lie: beside its run file, never in the cluster's own lock. */
export const simLockPath = (folder: string): string => join(folder, 'cluster.lock');

/** How that lock is called: its path says nothing to a person. */
export const simLockName = 'the simulated cluster.lock';

function pinOf(port: number, key: string): readonly [string, readonly PinnedKey[]] {
  const [type = '', base64 = ''] = key.split(' ');
  return [`[127.0.0.1]:${port}`, [{ type, base64, line: 1 }]];
}

/** Pins of a simulated fleet: the keys that its run file names, and over them what `enroll --sim` has pinned. */
export function openSimLock(run: Run, folder: string, runFile: RunFile): HostKeyLock {
  const path = simLockPath(folder);
  const pinned = openLock(run, path, simLockName);
  const nodes = Object.values(runFile.nodes);
  const own = nodes.map((node) => pinOf(node.port, node.hostKey));
  const preboot = nodes.flatMap(({ port, prebootKey }) => (prebootKey === undefined ? [] : [pinOf(port, prebootKey)]));
  return {
    file: pinned.file,
    hostKeys: { ...Object.fromEntries(own), ...pinned.hostKeys },
    prebootKeys: { ...Object.fromEntries(preboot), ...pinned.prebootKeys },
  };
}
