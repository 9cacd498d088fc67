import { join } from 'node:path';
import { renderLock, withPin } from '../../config/lock-text.ts';
import { withOtherMac, withoutWithdrawal } from '../../desired/settle/settle.ts';
import { diagnose } from '../../diagnostics/diagnose.ts';
import { FleetError } from '../../diagnostics/diagnostic.ts';
import type { ClusterLock, HostKey } from '../../model/cluster-lock.ts';
import type { Digest } from '../../model/digest.ts';
import { given } from '../../model/given.ts';
import { namedSubject } from '../../model/subject.ts';
import { named, prose } from '../../model/text/prose.ts';
import { simFolder } from '../files/places.ts';
import { shownPath } from '../files/read-file.ts';
import { holdFile, replaceFile } from '../files/write-file.ts';
import type { Run } from '../verb.ts';
import { type LockPlace, type OpenedCluster, readLock } from './open-cluster.ts';

/** Where pins of a simulated fleet lie: beside its run file, never in the cluster's own lock. Its path says nothing to a person. */
export const simLockPlace = (folder: string): LockPlace => ({
  path: join(folder, 'cluster.lock'),
  shown: 'the simulated cluster.lock',
});

/** The lock of a run: the committed one, or with `--sim` the one beside the run file. */
export const lockPlaceOf = (run: Run, { path, lockPath }: Pick<OpenedCluster, 'path' | 'lockPath'>): LockPlace =>
  run.options.sim ? simLockPlace(simFolder(run.env, path)) : { path: lockPath, shown: shownPath(run.folder, lockPath) };

/** The keeper of that lock. */
export function openKeeper(run: Run, opened: OpenedCluster): LockKeeper {
  const place = lockPlaceOf(run, opened);
  return createLockKeeper({ ...place, lock: run.options.sim ? readLock(place) : opened.lock });
}

/** The lock file of a run: what it pins now, and the writing of it. */
export interface LockKeeper extends LockPlace {
  /** Keys that are pinned for a name. */
  readonly pins: (name: string) => readonly HostKey[];
  /** The same for the sshd that waits at FileVault. */
  readonly prebootPins: (name: string) => readonly HostKey[];
  /**
   * Pins a key and writes the file; `isReplacing` drops every other key of that name, that before FileVault too: it may
   * be another Mac. What others have pinned for other names meanwhile is kept.
   * @throws FleetError `enroll/pins-changed` when they did so for this name, `cli/cannot-write`
   */
  readonly pin: (name: string, key: HostKey, isReplacing: boolean) => Promise<void>;
  /**
   * Pins the key that a Mac shows while it waits at FileVault, in place of another of its type; `isReplacing` drops
   * every other one. @throws FleetError `cli/cannot-write`
   */
  readonly pinPreboot: (name: string, key: HostKey, isReplacing: boolean) => Promise<void>;
  /** Drops the keys that a Mac showed while it waited at FileVault. @throws FleetError `cli/cannot-write` */
  readonly forgetPreboot: (name: string) => Promise<void>;
  /** Which Mac each node is. */
  readonly identities: () => Readonly<Record<string, Digest>>;
  /** Writes down which Mac a node is, in place of another one. @throws FleetError `cli/cannot-write` */
  readonly recordMac: (node: string, identity: Digest) => Promise<void>;
}

const pinsIn = (lock: ClusterLock, name: string): readonly HostKey[] =>
  Object.hasOwn(lock.hostKeys, name) ? (lock.hostKeys[name] ?? []) : [];

/** A keeper of one lock file. Each pin is written at once: an interrupted run keeps what it was told. */
export function createLockKeeper(at: LockPlace & { readonly lock: ClusterLock }): LockKeeper {
  const { path, shown } = at;
  let { lock } = at;
  const write = async (change: (now: ClusterLock) => ClusterLock): Promise<void> => {
    let next = lock;
    await changeLock(at, (now) => {
      next = change(now);
      return next;
    });
    lock = next;
  };
  const pinInto = (now: ClusterLock, name: string, key: HostKey, isReplacing: boolean): ClusterLock => {
    const pins = pinsIn(now, name);
    if (!isSame(pins, pinsIn(lock, name))) {
      if (pins.length === 1 && pins[0]?.base64 === key.base64) return now;
      throw pinsChanged(name, shown);
    }
    const others = Object.entries(now.hostKeys).filter(([other]) => other !== name);
    const base = isReplacing ? withoutPreboot({ ...now, hostKeys: Object.fromEntries(others) }, name) : now;
    return withPin(base, name, key);
  };
  return {
    path,
    shown,
    pins: (name) => pinsIn(lock, name),
    prebootPins: (name) => lock.prebootKeys?.[name] ?? [],
    pin: (name, key, isReplacing) => write((now) => pinInto(now, name, key, isReplacing)),
    identities: () => lock.identities ?? {},
    recordMac: (node, identity) => write((now) => withOtherMac(now, node, identity)),
    pinPreboot: (name, key, isReplacing) =>
      write((now) => withPin(isReplacing ? withoutPreboot(now, name) : now, name, key, 'prebootKeys')),
    forgetPreboot: (name) => write((now) => withoutPreboot(now, name)),
  };
}

function withoutPreboot({ prebootKeys, ...lock }: ClusterLock, name: string): ClusterLock {
  const others = Object.entries(prebootKeys ?? {}).filter(([other]) => other !== name);
  return others.length === 0 ? lock : { ...lock, prebootKeys: Object.fromEntries(others) };
}

function isSame(some: readonly HostKey[], others: readonly HostKey[]): boolean {
  const texts = (keys: readonly HostKey[]): string =>
    keys
      .map(({ type, base64 }) => `${type} ${base64}`)
      .sort()
      .join('\n');
  return texts(some) === texts(others);
}

const pinsChanged = (name: string, shown: string): FleetError =>
  new FleetError([
    diagnose('enroll/pins-changed', {
      subject: namedSubject(shown),
      detail: prose`${shown} has other keys for ${named(name)} than a moment ago; nothing was pinned.`,
    }),
  ]);

/**
 * Writes what was resolved into a lock file, when that changes its text. Pins are those that the file has at that
 * moment; nodes that others have added meanwhile stay, and so does which Mac each of them is.
 * @param reached nodes that somebody got into: none of them is being withdrawn
 * @returns whether it was written
 * @throws FleetError `cli/cannot-write`, or when the file has become unreadable
 */
export function keepLock(
  place: LockPlace,
  { withdrawing: _asRead, ...resolved }: ClusterLock,
  reached: readonly string[] = [],
): Promise<boolean> {
  return changeLock(place, (now) => ({
    ...resolved,
    hostKeys: now.hostKeys,
    ...given({ prebootKeys: now.prebootKeys, withdrawing: withoutWithdrawal(now, reached).withdrawing }),
    nodes: [...new Set([...now.nodes, ...resolved.nodes])].sort(),
    ...(now.identities === undefined && resolved.identities === undefined
      ? {}
      : { identities: { ...resolved.identities, ...now.identities } }),
  }));
}

/** Changes a lock file while nobody else does; a change without effect writes nothing. */
export const changeLock = (place: LockPlace, change: (now: ClusterLock) => ClusterLock): Promise<boolean> =>
  holdFile(place.path, () => {
    const now = readLock(place);
    const text = renderLock(change(now));
    if (text === renderLock(now)) return false;
    replaceFile(place.path, text);
    return true;
  });
