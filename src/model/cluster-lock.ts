import type { DesiredRuntime, Ipv4Network, RuntimeSource } from './desired.ts';
import type { Digest } from './digest.ts';
import type { ModelShape } from './model-shape.ts';

import type { TreeFile } from './node-script.ts';

/** One host key, as in a known_hosts line. */
export interface HostKey {
  /** Key type on the wire, such as `ssh-ed25519`. */
  readonly type: string;
  readonly base64: string;
}

/** A pinned key with its line in `cluster.lock`. */
export interface PinnedKey extends HostKey {
  readonly line: number;
}

/** An archive when it was locked. */
export type LockedArchive = Omit<TreeFile, 'path'>;

/** The rollback of a runtime to an older version. */
export interface TakenBack {
  readonly to: Digest;
  /** The archive's version at that time; the rollback ends with a different archive. */
  readonly from: Digest;
}

/** The keys of a runtime that belong to one version: how to start its programs and talk to them. */
export type RuntimeKeys = Omit<DesiredRuntime, keyof RuntimeSource>;

/** One version of a runtime with the keys that it was started with. */
export interface KeptKeys {
  readonly of: Digest;
  readonly keys: RuntimeKeys;
}

/** The contents of a model's folder when it was locked. */
export interface LockedModel {
  /** The folder in the cluster file; the list is only valid for it. */
  readonly source: string;
  /** Sorted by path. */
  readonly files: readonly TreeFile[];
}

/** A model's shape, with the digest of its files. */
export interface LockedShape {
  /** The digest of its file list; a different one makes the shape invalid. */
  readonly of: Digest;
  readonly shape: ModelShape;
}

/** The host keys of a lock file, with the file's displayed name. */
export interface HostKeyLock {
  readonly file: string;
  readonly hostKeys: Readonly<Record<string, readonly PinnedKey[]>>;
  /** Keys of the sshd at FileVault, if they differ; default: none. */
  readonly prebootKeys?: Readonly<Record<string, readonly PinnedKey[]>>;
}

/**
 * `cluster.lock`: values resolved once and committed. Pins are by address, as in known_hosts: `host` or `[host]:port`.
 */
export interface ClusterLock extends HostKeyLock {
  /** All nodes ever changed by apply and not forgotten, sorted. */
  readonly nodes: readonly string[];
  /**
   * Each node's identity, by name: a digest of its serial number and hardware UUID that reveals neither. A node
   * without one may be any Mac that fits the file.
   */
  readonly identities?: Readonly<Record<string, Digest>>;
  /**
   * Nodes whose SSH access `uninstall` removes or has removed, sorted. Recorded just before, because the node cannot be
   * observed afterwards. Only for these nodes does a refused login mean that nothing is left there.
   */
  readonly withdrawing?: readonly string[];
  /** The /30 of each link, by the link's text with its ends in order (`studio-1:2 <-> studio-2:2`). */
  readonly links: Readonly<Record<string, Ipv4Network>>;
  /**
   * Former link networks whose addresses may still be on nodes: by network (`10.77.0.4/30`), with the link's text. No
   * other link gets them, and a link that is declared again gets its old one back.
   */
  readonly formerNetworks: Readonly<Record<string, string>>;
  /** Each runtime's archive. */
  readonly runtimes: Readonly<Record<string, LockedArchive>>;
  /** Extra files of runtimes, by `<runtime>/<name>`; default: none. */
  readonly runtimeFiles?: Readonly<Record<string, LockedArchive>>;
  /** Runtimes rolled back to an older version, by name; default: none. */
  readonly takenBack?: Readonly<Record<string, TakenBack>>;
  /**
   * The keys of each runtime's last versions, newest last, so that `rollback` starts an older version as before; absent
   * in locks of an older meshwright.
   */
  readonly runtimeKeys?: Readonly<Record<string, readonly KeptKeys[]>>;
  /** The locked files of each model for which the cluster file lists none. */
  readonly models: Readonly<Record<string, LockedModel>>;
  /** The shape of each model whose headers were read; default: none. */
  readonly shapes?: Readonly<Record<string, LockedShape>>;
}
