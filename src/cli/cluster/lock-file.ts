import { join } from 'node:path';
import { renderLock, withPin } from '../../config/lock-text.ts';
import { withOtherMac, withoutWithdrawal } from '../../desired/settle/settle.ts';
import { diagnose } from '../../diagnostics/diagnose.ts';
import { FleetError } from '../../diagnostics/diagnostic.ts';
import type { ClusterLock, HostKey, HostKeyLock, PinnedKey } from '../../model/cluster-lock.ts';
import type { Digest } from '../../model/digest.ts';
import { given } from '../../model/given.ts';
import { namedSubject } from '../../model/subject.ts';
import { named, prose } from '../../model/text/prose.ts';
import type { RunFile } from '../../sim/hosts/control/run-folder.ts';
import { holdFile, replaceFile } from '../files/write-file.ts';
import type { Run } from '../verb.ts';
import { openLock, readLock } from './open-cluster.ts';

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

/** The lock file of a run: what it pins now, and the writing of it. */
export interface LockKeeper {
  /** Its absolute path. */
  readonly path: string;
  /** How it is called in text. */
  readonly shown: string;
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
export function createLockKeeper(at: {
  readonly path: string;
  readonly shown: string;
  readonly lock: ClusterLock;
}): LockKeeper {
  const { path, shown } = at;
  let { lock } = at;
  const write = async (change: (now: ClusterLock) => ClusterLock): Promise<void> => {
    lock = await holdFile(path, () => {
      const next = change(readLock(path, shown));
      replaceFile(path, renderLock(next));
      return next;
    });
  };
  const pinInto = (now: ClusterLock, name: string, key: HostKey, isReplacing: boolean): ClusterLock => {
    const pins = pinsIn(now, name);
    if (!isSame(pins, pinsIn(lock, name))) {
      if (pins.length === 1 && pins[0]?.base64 === key.base64) return now;
      throw pinsChanged(name, shown);
    }
    const others = Object.entries(now.hostKeys).filter(([other]) => other !== name);
    const base = isReplacing ? withoutPreboot({ ...now, hostKeys: Object.fromEntries(others) }, name) : now;
    const next = withPin(base, name, key);
    replaceFile(path, renderLock(next));
    return next;
  };
  return {
    path,
    shown,
    pins: (name) => pinsIn(lock, name),
    prebootPins: (name) => lock.prebootKeys?.[name] ?? [],
    pin: async (name, key, isReplacing) => {
      lock = await holdFile(path, () => pinInto(readLock(path, shown), name, key, isReplacing));
    },
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
    ...given({ prebootKeys: now.prebootKeys }),
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
