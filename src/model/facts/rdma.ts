import type { FactsRdmaHolders, FactsRdmaPorts } from '../documents.generated.ts';
import type { ItemOf } from '../given.ts';

/** An RDMA device with its single port, from `ibv_devinfo -v`. Its limits were 11 in macOS 26.x, and 3 later. */
export type RdmaPort = ItemOf<FactsRdmaPorts>;

/** One entry of a port's GID table. MLX needs an IPv4-mapped GID (`::ffff:a.b.c.d`). */
export type Gid = RdmaPort['gids'][number];

/** RDMA objects and their processes; both lists are empty if the kernel has none and no verbs tool runs. */
export type RdmaHolders = FactsRdmaHolders;

/** One object of a device. `busy` counts its waiters; an inactive but busy object is stuck. */
export type RdmaObject = RdmaHolders['devices'][number]['objects'][number];

/**
 * A process with open RDMA devices, or a verbs tool that has been running for at least a second. The kernel limits the
 * program name to 32 characters. A launchd service's process group is the service's first process.
 */
export type RdmaProcess = RdmaHolders['processes'][number];
