/** A background service of somebody else that sets the network of cables; its plist lies on the node. */
export interface ForeignDaemon {
  readonly label: string;
  readonly isLoaded: boolean;
  /** By `launchctl disable`: then launchd does not load it at the next start either. */
  readonly isDisabled: boolean;
}

/** The report of a kernel panic. */
export interface PanicReport {
  /** Of its file. */
  readonly name: string;
  /** When it was written; absent where it does not say so. */
  readonly atEpochSeconds?: number;
  /** The first line of what the kernel said. */
  readonly reason?: string;
  /** The kernel extensions that its backtrace goes through. */
  readonly extensions: readonly string[];
}
