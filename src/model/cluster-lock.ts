import type { DesiredRuntime, Ipv4Network, RuntimeSource } from './desired.ts';
import type { Digest } from './digest.ts';
import type { ModelShape } from './model-shape.ts';

import type { TreeFile } from './node-script.ts';

/** A host key, as in a known_hosts line. */
export interface HostKey {
  /** Key type on the wire, such as `ssh-ed25519`. */
  readonly type: string;
  readonly base64: string;
}

/** A pinned key with its line in `cluster.lock`. */
export interface PinnedKey extends HostKey {
  readonly line: number;
}

export type LockedArchive = Omit<TreeFile, 'path'>;

/** A runtime's rollback to an older version. */
export interface RolledBack {
  readonly to: Digest;
  /** The archive's version at that time; a different archive ends the rollback. */
  readonly from: Digest;
}

/** The runtime's keys in the file that apply to one version: how to start its programs and communicate with them. */
export type RuntimeKeys = Omit<DesiredRuntime, keyof RuntimeSource>;

/** One runtime version with the keys that it was started with. */
export interface VersionKeys {
  readonly of: Digest;
  readonly keys: RuntimeKeys;
}

/** The contents of a model's folder or repository when it was locked. */
export interface LockedModel {
  /** The source in the cluster file; the list is valid only for this source. */
  readonly source: string;
  /** The commit of a repository. */
  readonly commit?: string;
  /** Set if everybody could download the repository when it was listed. */
  readonly access?: 'public';
  /** Sorted by path. */
  readonly files: readonly TreeFile[];
}

export interface LockedShape {
  /** Digest of the model's file list; if the list differs, the shape is invalid. */
  readonly of: Digest;
  readonly shape: ModelShape;
}

/** A lock file's host keys, with the file's displayed name. */
export interface HostKeyLock {
  readonly file: string;
  readonly hostKeys: Readonly<Record<string, readonly PinnedKey[]>>;
  /** Preboot keys, if they differ; default: none. */
  readonly prebootKeys?: Readonly<Record<string, readonly PinnedKey[]>>;
}

/** `cluster.lock`: values resolved once and committed. Pins are named as in known_hosts: `host` or `[host]:port`. */
export interface ClusterLock extends HostKeyLock {
  /** All nodes that apply has changed and that were not forgotten, sorted. */
  readonly nodes: readonly string[];
  /** Each node's identity: a digest of serial number and hardware UUID. A node without one can be any matching Mac. */
  readonly identities?: Readonly<Record<string, Digest>>;
  /**
   * Nodes whose SSH access `uninstall` is removing or has removed, sorted. They are recorded just before the removal,
   * because they cannot be observed afterwards. Only for these nodes does a refused login mean that nothing remains.
   */
  readonly withdrawing?: readonly string[];
  /** Each link's /30 network, by the link's text with its ends in order (`studio-1:2 <-> studio-2:2`). */
  readonly links: Readonly<Record<string, Ipv4Network>>;
  /**
   * Former link networks whose addresses may still be on nodes, by network (`10.77.0.4/30`), with the link's text. They
   * are not allocated to other links. A link that is declared again gets its former network back.
   */
  readonly formerNetworks: Readonly<Record<string, string>>;
  readonly runtimes: Readonly<Record<string, LockedArchive>>;
  /** The URL, before any mirror, of each archive in `runtimes` that nodes download; default: none. */
  readonly releases?: Readonly<Record<string, string>>;
  /** Extra files of runtimes, by `<runtime>/<name>`; default: none. */
  readonly runtimeFiles?: Readonly<Record<string, LockedArchive>>;
  /** Runtimes rolled back to an older version, by name; default: none. */
  readonly rolledBack?: Readonly<Record<string, RolledBack>>;
  /** The keys of each runtime's last versions, newest last, for `rollback`. Absent in older locks. */
  readonly runtimeKeys?: Readonly<Record<string, readonly VersionKeys[]>>;
  /** The locked files of each model for which the cluster file lists none. */
  readonly models: Readonly<Record<string, LockedModel>>;
  /** The shape of each model whose headers were read; default: none. */
  readonly shapes?: Readonly<Record<string, LockedShape>>;
}
