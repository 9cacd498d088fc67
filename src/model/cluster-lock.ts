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

/** `cluster.lock`: what was resolved once and is committed. Pins are by address, as in known_hosts: `host` or `[host]:port`. */
export interface ClusterLock {
  readonly file: string;
  readonly hostKeys: Readonly<Record<string, readonly PinnedKey[]>>;
}
