/** One entry of a port's GID table. */
export interface Gid {
  readonly index: number;
  readonly gid: string;
  /** Set when the GID is an IPv4-mapped one (`::ffff:a.b.c.d`), which MLX needs. */
  readonly ipv4?: string;
}

/** One RDMA device with its one port, as `ibv_devinfo -v` prints it. */
export interface RdmaPort {
  readonly device: string;
  readonly state: 'active' | 'down' | 'other';
  readonly gids: readonly Gid[];
  /** Limits as this macOS reports them (26.x said 11, later 3): read, never hard-coded. */
  readonly maxQueuePairs?: number;
  readonly maxProtectionDomains?: number;
}

/** One object of a device. `busy` counts what still waits for it; an inactive object that is busy is stuck. */
export interface RdmaObject {
  readonly kind: 'domain' | 'queue-pair';
  readonly isActive: boolean;
  readonly busy: number;
}

/** A process that has opened RDMA devices, or a verbs tool that has run for a second. */
export interface RdmaProcess {
  readonly pid: number;
  /** As the kernel names it, at most 32 characters. */
  readonly program: string;
  /** Its process group, which for a service of launchd is the service's first process; absent when it is gone. */
  readonly group?: number;
  /** `uninterruptible`: no signal reached it in this moment. `gone`: no process has this number and name. */
  readonly state: 'runs' | 'uninterruptible' | 'gone';
  readonly isVerbsTool: boolean;
  /** The devices that it has open. */
  readonly devices: readonly string[];
}

/** What holds RDMA objects; both lists are empty while the kernel has none and no verbs tool runs. */
export interface RdmaHolders {
  readonly devices: readonly {
    readonly device: string;
    /** 2 is usable, 0 is without an active peer; absent where ioreg prints none. */
    readonly powerState?: number;
    readonly objects: readonly RdmaObject[];
  }[];
  readonly processes: readonly RdmaProcess[];
}
