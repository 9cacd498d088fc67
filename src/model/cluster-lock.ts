import type { DesiredRuntime, Ipv4Network, RuntimeSource } from './desired.ts';
import type { Digest } from './digest.ts';
import type { ModelShape } from './model-shape.ts';

import type { TreeFile } from './node-script.ts';

/** One host key, as a known_hosts line has it. */
export interface HostKey {
  /** Key type on the wire, such as `ssh-ed25519`. */
  readonly type: string;
  readonly base64: string;
}

/** A pin of `cluster.lock` with its place there. */
export interface PinnedKey extends HostKey {
  readonly line: number;
}

/** What an archive was when it was locked. */
export interface LockedArchive {
  readonly sha256: Digest;
  readonly sizeBytes: number;
}

/** The version to which a runtime was taken back. */
export interface TakenBack {
  readonly to: Digest;
  /** The version of its archive at that moment: with another one it counts no more. */
  readonly from: Digest;
}

/**
 * The keys of a runtime that belong to one version of it: how its programs are called and spoken to. Its driver knows
 * the others.
 */
export type RuntimeKeys = Omit<DesiredRuntime, keyof RuntimeSource>;

/** One version of a runtime with the keys that it was started with. */
export interface KeptKeys {
  readonly of: Digest;
  readonly keys: RuntimeKeys;
}

/** What the folder of a model held when it was locked. */
export interface LockedModel {
  /** The folder as the cluster file named it: the list is of no other one. */
  readonly source: string;
  /** Sorted by path. */
  readonly files: readonly TreeFile[];
}

/** The shape of a model, and of which files it is. */
export interface LockedShape {
  /** The digest of the list of its files: with another one it counts no more. */
  readonly of: Digest;
  readonly shape: ModelShape;
}

/** The host keys of a lock file, and what it is called in text. */
export interface HostKeyLock {
  readonly file: string;
  readonly hostKeys: Readonly<Record<string, readonly PinnedKey[]>>;
  /** Keys of the sshd that waits at FileVault, where it shows others; none when absent. */
  readonly prebootKeys?: Readonly<Record<string, readonly PinnedKey[]>>;
}

/** `cluster.lock`: what was resolved once and is committed. Pins are by address, as in known_hosts: `host` or `[host]:port`. */
export interface ClusterLock extends HostKeyLock {
  /** Every node that was ever converged and not forgotten, sorted. */
  readonly nodes: readonly string[];
  /**
   * Which Mac each node is, by name: a digest of its serial number and hardware UUID, which alone say nothing to whoever
   * reads the repository. A node without one may be any Mac that the file describes.
   */
  readonly identities?: Readonly<Record<string, Digest>>;
  /**
   * Nodes whose way in `uninstall` takes away, or has taken, sorted: written down right before, since nobody can look
   * afterwards. Only with it does a refused login mean that nothing is left there.
   */
  readonly withdrawing?: readonly string[];
  /** The /30 of each link, by the link's text with its ends in order (`studio-1:2 <-> studio-2:2`). */
  readonly links: Readonly<Record<string, Ipv4Network>>;
  /**
   * Networks that a link had once and whose addresses may still be on nodes: by network (`10.77.0.4/30`), each with
   * the text of that link. They are given to nobody else, and a link that comes back has its own again.
   */
  readonly formerNetworks: Readonly<Record<string, string>>;
  /** The archive of each runtime. */
  readonly runtimes: Readonly<Record<string, LockedArchive>>;
  /** What else belongs to runtimes, by `<runtime>/<name>`; none when absent. */
  readonly runtimeFiles?: Readonly<Record<string, LockedArchive>>;
  /** Runtimes that were taken back to an older version, by name; none when absent. */
  readonly takenBack?: Readonly<Record<string, TakenBack>>;
  /**
   * The keys of the last versions of each runtime, the newest last, so that `rollback` starts an older version as it was
   * started before; none when absent, as in locks of an older meshwright.
   */
  readonly runtimeKeys?: Readonly<Record<string, readonly KeptKeys[]>>;
  /** The files of each model whose list is not in the file. */
  readonly models: Readonly<Record<string, LockedModel>>;
  /** The shape of each model whose headers were read; none when absent. */
  readonly shapes?: Readonly<Record<string, LockedShape>>;
}
