import type { Reach } from '../model/wiring.ts';
import type { RunNode } from './control/run-folder.ts';
import type { NodeView } from './fleet-model.ts';
import type { Launchd } from './launchd.ts';
import type { NodeLife } from './node-life.ts';
import type { EffectAct, ExecRecord, NodeCounts } from './records.ts';
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

/** One simulated Mac that can be reached. */
export interface SimulatedNode {
  readonly name: string;
  readonly run: RunNode;
  /** Where this process finds its `/`. */
  readonly disk: string;
  readonly counts: () => NodeCounts;
  readonly execs: () => readonly ExecRecord[];
  readonly unknown: () => Promise<readonly string[]>;
  readonly launchd: Launchd;
  readonly life: NodeLife;
  /** What the model says of it, as of the last rendering. */
  readonly view: () => NodeView;
  /** Which addresses on cables it can use, as of the last rendering. */
  readonly reach: () => Reach | undefined;
  /** Number of the present boot session, from 0. */
  readonly boot: () => number;
  /** `<run id>.<node>.<boot>`: what every process of the present boot session carries. */
  readonly mark: () => string;
  /** Writes one line down that a Mac would not have understood. */
  readonly objectTo: (line: string) => Promise<void>;
  /** The text of a rendered file when somebody on the node has changed it since; empty when it is gone. */
  readonly edited: (path: string) => Promise<string | undefined>;
  /** Brings files and connection in line with the model; those of another Mac not before this one is off. */
  readonly render: () => Promise<void>;
  /** Whether the model has another Mac here than the one whose disk is in. */
  readonly isExchanged: () => boolean;
  /** The Mac has started in the model: from now on its processes belong to the new boot session. */
  readonly begin: () => void;
  /** Starts the services of a Mac that has started and that nobody has to unlock any more. */
  readonly wake: () => Promise<void>;
  /** Whether its services were started in the present boot session. */
  readonly isAwake: () => boolean;
  readonly close: () => Promise<void>;
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
