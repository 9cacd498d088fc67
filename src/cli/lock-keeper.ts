import { renderLock, withPin } from '../config/lock-text.ts';
import { diagnose } from '../diagnostics/diagnose.ts';
import { FleetError } from '../diagnostics/fleet-error.ts';
import type { ClusterLock, HostKey } from '../model/cluster-lock.ts';
import { holdFile } from './hold-file.ts';
import { readLock } from './open-cluster.ts';
import { replaceFile } from './write-file.ts';

/** The lock file of a run: what it pins now, and the writing of it. */
export interface LockKeeper {
  /** Its absolute path. */
  readonly path: string;
  /** How it is called in text. */
  readonly shown: string;
  /** Keys that are pinned for a name. */
  readonly pins: (name: string) => readonly HostKey[];
  /**
   * Pins a key and writes the file; `isReplacing` drops every other key of that name. What others have pinned for
   * other names meanwhile is kept.
   * @throws FleetError `enroll/pins-changed` when they did so for this name, `cli/cannot-write`
   */
  readonly pin: (name: string, key: HostKey, isReplacing: boolean) => Promise<void>;
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
  const pinInto = (now: ClusterLock, name: string, key: HostKey, isReplacing: boolean): ClusterLock => {
    const pins = pinsIn(now, name);
    if (!isSame(pins, pinsIn(lock, name))) {
      if (pins.length === 1 && pins[0]?.base64 === key.base64) return now;
      throw pinsChanged(name, shown);
    }
    const others = Object.entries(now.hostKeys).filter(([other]) => other !== name);
    const base = isReplacing ? { ...now, hostKeys: Object.fromEntries(others) } : now;
    const next = withPin(base, name, key);
    replaceFile(path, renderLock(next));
    return next;
  };
  return {
    path,
    shown,
    pins: (name) => pinsIn(lock, name),
    pin: async (name, key, isReplacing) => {
      lock = await holdFile(path, () => pinInto(readLock(path, shown), name, key, isReplacing));
    },
  };
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
      subject: shown,
      detail: `${shown} has other keys for ${name} than a moment ago; nothing was pinned.`,
    }),
  ]);
