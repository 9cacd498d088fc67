import { appendFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { given } from '../../model/given.ts';
import type { Ailments } from '../model/fleet.ts';
import type { NodeFile } from '../model/node-files.ts';
import type { RunNode } from './control/run-folder.ts';
import type { NodeView } from './fleet-model.ts';
import { createLaunchd } from './launchd.ts';
import type { StartJob } from './launchd-process.ts';
import { createNodeLife, type NodeLifeParts, writeBootFile } from './node-life.ts';
import type { NodeRoot } from './node-root.ts';
import { createRecords, type EffectAct, type ExecRecord, type NodeCounts, type NodeRecords } from './records.ts';
import type { ExecWatch } from './ssh/exec-watch.ts';
import type { KeyFile, NodeKeys } from './ssh/host-keys.ts';
import { type DoorOptions, openSshDoor } from './ssh/ssh-door.ts';

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

/** A node as its host has prepared it: what differs from host to host. */
interface NodePlace extends Pick<NodeLifeParts, 'startProcesses' | 'endProcesses' | 'fallSilent'> {
  /** Of the fleet: the first part of every mark. */
  readonly runId: string;
  /** Where this process finds its `/`. */
  readonly disk: string;
  /** What its own processes find there; empty where that is `/`. */
  readonly root: string;
  readonly files: NodeRoot;
  readonly keys: NodeKeys;
  /** How its processes come to be, each with the mark of the present boot session. */
  readonly startJob: (mark: () => string) => StartJob;
  /** Told what the texts of a launchd job name before it is loaded. */
  readonly beforeLoad: (texts: readonly string[]) => Promise<void>;
  /** All rendered files of a node that looks so. */
  readonly filesOf: (view: NodeView, mark: string) => readonly NodeFile[] | Promise<readonly NodeFile[]>;
  /** The server behind the SSH door. */
  readonly serverOf: (node: ServedNode) => Pick<DoorOptions, 'serve' | 'allowHalfOpen' | 'setInside'>;
  /** What it was asked for over SSH, where the host does not see it itself. */
  readonly execs?: () => readonly ExecRecord[];
  /** Ends what is there when the fleet ends. */
  readonly close?: () => Promise<void>;
}

/** A node as the server behind its door sees it. */
interface ServedNode {
  readonly boot: () => number;
  readonly mark: () => string;
  readonly view: () => NodeView;
  readonly objectTo: (line: string) => Promise<void>;
  readonly records: NodeRecords;
  readonly unlock: () => void;
}

/** A node on its disk, before anything of it runs. */
function placeNode(options: HostedNode, place: NodePlace) {
  const { name, scaledMs, intervalMs } = options;
  const { disk, files } = place;
  const unknownFile = join(disk, '.sim/unknown');
  const now = { view: options.look(), boot: 0, isAsleep: true };
  now.boot = now.view.bootCount;
  const mark = (): string => `${place.runId}.${name}.${now.boot}`;
  const objectTo = (line: string): Promise<void> => appendFile(unknownFile, `${line}\n`);
  return {
    name,
    /** Where this process finds its `/`. */
    disk,
    now,
    /** What the model says of it, as of the last rendering. */
    view: (): NodeView => now.view,
    /** Number of the present boot session, from 0. */
    boot: (): number => now.boot,
    /** `<run id>.<node>.<boot>`: what every process of the present boot session carries. */
    mark,
    /** Writes one line down that a Mac would not have understood. */
    objectTo,
    unknown: async (): Promise<readonly string[]> =>
      (await readFile(unknownFile, 'utf8')).split('\n').filter((line) => line !== ''),
    /** The text of a rendered file when somebody on the node has changed it since; empty when it is gone. */
    edited: files.edited,
    /** Whether the model has another Mac here than the one whose disk is in. */
    isExchanged: (): boolean => files.isOfAnother(now.view.mac),
    /** The Mac has started in the model: from now on its processes belong to the new boot session. */
    begin: (): void => {
      now.boot = options.look().bootCount;
      now.isAsleep = true;
    },
    records: createRecords(),
    launchd: createLaunchd({
      ...{ root: disk, startJob: place.startJob(mark), beforeLoad: place.beforeLoad, scaledMs, intervalMs },
      objectTo: (line) => void objectTo(line).catch(() => undefined),
    }),
    renderFiles: async (): Promise<void> => {
      now.view = options.look();
      const { account, mac } = now.view;
      await files.update(await place.filesOf(now.view, mark()), account.hasKey, mac);
    },
  };
}

/** Writes the files of a node, starts it and opens its door. Its services start with the first {@link SimulatedNode.wake}. */
export async function createNode(options: HostedNode, place: NodePlace) {
  const { disk, root, files, keys } = place;
  const { now, records, launchd, renderFiles, ...known } = placeNode(options, place);
  const { mark, objectTo } = known;
  await renderFiles();
  await writeBootFile(disk, mark());
  await place.startProcesses?.(mark());
  const door = await openSshDoor({
    ...place.serverOf({ ...known, records, unlock: () => void life.unlock() }),
    state: () => now.view.connection,
    records,
    ...given({ preferredPort: options.preferredPort }),
  });
  const ailments = (): Ailments => now.view.ailments;
  const life = createNodeLife({ ...options, ...place, root: disk, door, launchd, mark, objectTo, ailments });
  const execs = place.execs ?? records.execs;
  const { own, preboot } = keys;
  const run: RunNode = {
    port: door.port,
    hostKey: own.publicText,
    prebootKey: preboot.publicText,
    root,
    user: options.user,
  };
  return {
    ...known,
    run,
    launchd,
    life,
    counts: (): NodeCounts =>
      place.execs === undefined
        ? records.counts()
        : { ...records.counts(), execs: execs().length, channels: execs().length },
    execs,
    /** Brings files and connection in line with the model; those of another Mac not before this one is off. */
    render: async (): Promise<void> => {
      now.view = options.look();
      // The disk of a running Mac cannot be taken out.
      if (life.power() === 'up' && files.isOfAnother(now.view.mac)) return;
      await renderFiles();
      await door.follow(life.power() === 'up');
    },
    /** Starts the services of a Mac that has started and that nobody has to unlock any more. */
    wake: async (): Promise<void> => {
      if (!now.isAsleep || life.power() === 'down' || now.view.connection.filevault === 'preboot') return;
      now.isAsleep = false;
      await launchd.boot();
    },
    /** Whether its services were started in the present boot session. */
    isAwake: (): boolean => !now.isAsleep,
    close: async (): Promise<void> => {
      launchd.close();
      await life.close();
      await place.close?.();
      await door.close();
    },
  };
}

/** One simulated Mac that can be reached. */
export type SimulatedNode = Awaited<ReturnType<typeof createNode>>;

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
