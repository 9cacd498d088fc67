/** One entry of a port's GID table. */
export interface Gid {
  readonly index: number;
  readonly gid: string;
  /** Set for an IPv4-mapped GID (`::ffff:a.b.c.d`), which MLX needs. */
  readonly ipv4?: string;
}

/** One RDMA device with its single port, as `ibv_devinfo -v` prints it. */
export interface RdmaPort {
  readonly device: string;
  readonly state: 'active' | 'down' | 'other';
  readonly gids: readonly Gid[];
  /** Limits as reported by this macOS (11 in 26.x, later 3); never hard-coded. */
  readonly maxQueuePairs?: number;
  readonly maxProtectionDomains?: number;
}

/** One object of a device. `busy` counts its waiters; an inactive but busy object is stuck. */
export interface RdmaObject {
  readonly kind: 'domain' | 'queue-pair';
  readonly isActive: boolean;
  readonly busy: number;
}

/** A process with open RDMA devices, or a verbs tool that has run for at least a second. */
export interface RdmaProcess {
  readonly pid: number;
  /** The kernel's name for it, at most 32 characters. */
  readonly program: string;
  /** Its process group: for a launchd service, the service's first process; absent if the process is gone. */
  readonly group?: number;
  /** `uninterruptible`: cannot receive signals at the moment. `gone`: no process has this PID and name. */
  readonly state: 'runs' | 'uninterruptible' | 'gone';
  readonly isVerbsTool: boolean;
  /** Its open devices. */
  readonly devices: readonly string[];
}

/** RDMA objects and their processes; both lists are empty if the kernel has none and no verbs tool runs. */
export interface RdmaHolders {
  readonly devices: readonly {
    readonly device: string;
    /** 2: usable, 0: no active peer; absent if ioreg prints none. */
    readonly powerState?: number;
    readonly objects: readonly RdmaObject[];
  }[];
  readonly processes: readonly RdmaProcess[];
}
