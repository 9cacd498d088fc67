import { chmodSync, readFileSync } from 'node:fs';
import { renderLock } from '../../src/config/lock-text.ts';
import type { ClusterLock, PinnedKey } from '../../src/model/cluster-lock.ts';
import type { RunningFleet } from '../../src/sim/hosts/control/start-fleet.ts';
import type { Place } from '../cli/place.ts';
import { type FileValue, filePart, fileText } from '../scenarios/converge-file.ts';

/**
 * Writes a cluster file and its lock with which a command reaches these Macs without `--sim`. A Mac of the namespace
 * host has its own root and sshd: the command knows only its address, its port and its pinned key.
 */
export function writePlace(place: Place, { nodes, userKey }: RunningFleet, lock: ClusterLock, wanted: FileValue): void {
  const file = structuredClone(wanted);
  const hostKeys: Record<string, readonly PinnedKey[]> = {};
  for (const [name, { port, hostKey }] of Object.entries(nodes)) {
    const [type = '', base64 = ''] = hostKey.split(' ');
    hostKeys[`[127.0.0.1]:${port}`] = [{ type, base64, line: 1 }];
    Object.assign(filePart(file, 'nodes', name), { host: '127.0.0.1', port, identityFile: 'user-key' });
  }
  chmodSync(place.write('user-key', readFileSync(userKey.path)), 0o600);
  place.write('cluster.yaml', fileText(file));
  place.write('cluster.lock', renderLock({ ...lock, hostKeys }));
}
