/** One line of `ibv_devices`. */
export interface RdmaDevice {
  readonly name: string;
  readonly guid: string;
}

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
