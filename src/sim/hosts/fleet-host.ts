import type { NodeView } from './fleet-model.ts';
import type { EffectAct } from './records.ts';
import type { SimulatedNode } from './simulated-node.ts';
import type { ExecWatch } from './ssh/exec-watch.ts';
import type { KeyFile } from './ssh/host-keys.ts';

/** A run of a fleet, as the host that carries it sees it. */
export interface HostRun {
  readonly runId: string;
  /** Private to the run; below it `roots/NODE` is the disk of each node. */
  readonly folder: string;
  /** Sorted as in the file. */
  readonly nodes: readonly string[];
  readonly userKey: KeyFile;
  /** Where the tools of all nodes reach the simulator; it listens already. */
  readonly askPath: string;
}

/** One node, as its host is to make it. */
export interface HostedNode {
  readonly name: string;
  readonly user: string;
  readonly look: () => NodeView;
  /** Whether the files of an earlier run are this Mac's disk. */
  readonly isKept: boolean;
  /** Lets the Mac start in the model, and brings every file in line with it. */
  readonly startModel: () => Promise<void>;
  /** Unlocks FileVault in the model, and brings every file in line with it. */
  readonly unlockModel: () => Promise<void>;
  readonly note: (act: EffectAct) => void;
  /** Real milliseconds for so many milliseconds of the Mac. */
  readonly scaledMs: (macMs: number) => number;
  /** The same for the start intervals of launchd. */
  readonly intervalMs: (macMs: number) => number;
  readonly preferredPort?: number;
}

/** What a host has made for one run. */
export interface OpenHost {
  readonly createNode: (node: HostedNode) => Promise<SimulatedNode>;
  /** Cables, addresses or anything else of the model may have changed: makes the network between the nodes be so. */
  readonly update: (nodes: readonly SimulatedNode[]) => Promise<void>;
  /** How many process groups of node commands live; 0 where only the whole node can be asked. */
  readonly groupCount: () => number;
  /** Ends every process and removes what only a running fleet needs; its nodes are closed already. */
  readonly close: () => Promise<void>;
}

/** Where simulated Macs run: what differs is the prefix of their roots, their network, and how processes end. */
export interface FleetHost {
  /** Told of commands as they arrive, where the host can see them. */
  readonly open: (run: HostRun, watch: ExecWatch) => Promise<OpenHost>;
}
