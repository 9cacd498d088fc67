import { renderLock } from '../../config/lock-text.ts';
import { withoutWithdrawal } from '../../desired/settle/lock-nodes.ts';
import type { ClusterLock } from '../../model/cluster-lock.ts';
import { holdFile } from '../files/hold-file.ts';
import { replaceFile } from '../files/write-file.ts';
import { readLock } from './open-cluster.ts';

/** A lock file by its place. */
export interface LockPlace {
  readonly path: string;
  /** How it is called in text. */
  readonly shown: string;
}

/**
 * Writes what was resolved into a lock file, when that changes its text. Pins are those that the file has at that
 * moment; nodes that others have added meanwhile stay, and so does which Mac each of them is.
 * @param reached nodes that somebody got into: none of them is being withdrawn
 * @returns whether it was written
 * @throws FleetError `cli/cannot-write`, or when the file has become unreadable
 */
export function keepLock(
  { path, shown }: LockPlace,
  { withdrawing: _asRead, ...resolved }: ClusterLock,
  reached: readonly string[] = [],
): Promise<boolean> {
  const told = (now: ClusterLock): Pick<ClusterLock, 'withdrawing'> => {
    const { withdrawing } = withoutWithdrawal(now, reached);
    return withdrawing === undefined ? {} : { withdrawing };
  };
  return changeLock({ path, shown }, (now) => ({
    ...resolved,
    ...told(now),
    hostKeys: now.hostKeys,
    ...(now.prebootKeys === undefined ? {} : { prebootKeys: now.prebootKeys }),
    nodes: [...new Set([...now.nodes, ...resolved.nodes])].sort(),
    ...(now.identities === undefined && resolved.identities === undefined
      ? {}
      : { identities: { ...resolved.identities, ...now.identities } }),
  }));
}

/** Changes a lock file while nobody else does; a change without effect writes nothing. */
export function changeLock({ path, shown }: LockPlace, change: (now: ClusterLock) => ClusterLock): Promise<boolean> {
  return holdFile(path, () => {
    const now = readLock(path, shown);
    const text = renderLock(change(now));
    if (text === renderLock(now)) return false;
    replaceFile(path, text);
    return true;
  });
}
