import { appendFile, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { ConnectionState } from '../model/fleet.ts';
import type { NodeFile } from '../model/node-files.ts';
import type { RunNode } from './control/run-folder.ts';
import type { NodeView } from './fleet-model.ts';
import { createLaunchd } from './launchd.ts';
import type { StartJob } from './launchd-process.ts';
import type { NodeRoot } from './node-root.ts';
import { createRecords, type EffectAct, type ExecRecord, type NodeRecords } from './records.ts';
import type { KeyFile, NodeKeys } from './ssh/host-keys.ts';

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
interface NodePlace {
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
  readonly serverOf: (node: ServedNode) => NodeServer;
  /** Starts what a node needs before its services start; nothing when absent. */
  readonly startProcesses?: (mark: string) => Promise<void>;
  /** Ends every process of the node, at once. */
  readonly endProcesses: () => Promise<void>;
  /** Cuts the node from its network, where the host can: a Mac without power answers nothing. */
  readonly fallSilent?: () => Promise<void>;
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

/** What a host puts behind the SSH door of a node. */
interface NodeServer {
  /** Serves a client that has come through the door. */
  readonly serve: (client: Socket, connection: number) => void;
  /** Whether a client that has sent everything still hears the rest; a server that ends its side itself does not need it. */
  readonly allowHalfOpen?: boolean;
  /** Opens and shuts port 22 of the node itself, where it has one, together with the door. */
  readonly setInside?: (isOpen: boolean) => void;
}

/** What all parts of a node know and change: what the model says of it, and its boot session. */
function createNodeState({ name, look }: HostedNode, { disk, runId, files, filesOf }: NodePlace) {
  const unknownFile = join(disk, '.sim/unknown');
  const view = look();
  const now = { view, boot: view.bootCount, isAsleep: true };
  const mark = (): string => `${runId}.${name}.${now.boot}`;
  return {
    now,
    known: {
      /** What the model says of it, as of the last rendering. */
      view: (): NodeView => now.view,
      /** Number of the present boot session, from 0. */
      boot: (): number => now.boot,
      /** `<run id>.<node>.<boot>`: what every process of the present boot session carries. */
      mark,
      /** Writes one line down that a Mac would not have understood. */
      objectTo: (line: string): Promise<void> => appendFile(unknownFile, `${line}\n`),
    },
    unknown: async (): Promise<readonly string[]> =>
      (await readFile(unknownFile, 'utf8')).split('\n').filter((line) => line !== ''),
    renderFiles: async (): Promise<void> => {
      now.view = look();
      const { account, mac } = now.view;
      await files.update(await filesOf(now.view, mark()), account.hasKey, mac);
    },
  };
}

/** Writes the files of a node, starts it and opens its door. Its services start with the first {@link SimulatedNode.wake}. */
export async function createNode(options: HostedNode, place: NodePlace) {
  const { name, scaledMs, intervalMs, look } = options;
  const { disk, root, files, keys } = place;
  const { now, known, unknown, renderFiles } = createNodeState(options, place);
  const { mark, objectTo } = known;
  const records = createRecords();
  const launchd = createLaunchd({
    ...{ root: disk, startJob: place.startJob(mark), beforeLoad: place.beforeLoad, scaledMs, intervalMs },
    objectTo: (line) => void objectTo(line).catch(() => undefined),
  });
  await renderFiles();
  await writeBootFile(disk, mark());
  await place.startProcesses?.(mark());
  const server = place.serverOf({ ...known, records, unlock: () => void life.unlock() });
  const door = await openSshDoor(server, () => now.view.connection, records, options.preferredPort);
  const life = createNodeLife(options, place, { ...known, door, launchd });
  const execs = place.execs ?? records.execs;
  const [hostKey, prebootKey] = [keys.own.publicText, keys.preboot.publicText];
  const run: RunNode = { port: door.port, hostKey, prebootKey, root, user: options.user };
  return {
    name,
    /** Where this process finds its `/`. */
    disk,
    ...known,
    unknown,
    /** The text of a rendered file when a process or a person on the node changed it since; empty when it is gone. */
    edited: files.edited,
    /** Whether the model has another Mac here than the one whose disk is in. */
    isExchanged: (): boolean => files.isOfAnother(now.view.mac),
    /** The Mac has started in the model: from now on its processes belong to the new boot session. */
    begin: (): void => {
      now.boot = look().bootCount;
      now.isAsleep = true;
    },
    run,
    launchd,
    life,
    counts: () =>
      place.execs === undefined
        ? records.counts()
        : { ...records.counts(), execs: execs().length, channels: execs().length },
    execs,
    /** Brings files and connection in line with the model; those of another Mac not before this one is off. */
    render: async (): Promise<void> => {
      now.view = look();
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
  /** Ends every process and removes what only a running fleet needs; its nodes are closed already. */
  readonly close: () => Promise<void>;
}

/** Where simulated Macs run: what differs is the prefix of their roots, their network, and how processes end. */
export interface FleetHost<Open extends OpenHost> {
  readonly open: (run: HostRun) => Promise<Open>;
}

/** Whether a node can be reached: `down` until its button is pressed. */
type Power = 'up' | 'going-down' | 'down' | 'starting';

/** How long an idle Mac takes to stop its services and to answer on its network again: 17 s, as SQCU measured it. */
const shutdownMs = 5_000;
const bootMs = 12_000;
/** What something that does not stop adds, until the watchdog resets the Mac: 253 s in all, measured there as well. */
const slowMs = 236_000;

/** The file that shows from outside whether a node is up, and which mark its processes carry. */
export const bootFilePath = '/.sim/boot';

/** Writes down that the node is up, with the mark of this boot session. */
const writeBootFile = (root: string, mark: string): Promise<void> => writeFile(join(root, bootFilePath), `${mark}\n`);

/** A node as its life sees it. */
interface LivingNode extends Pick<ServedNode, 'mark' | 'view' | 'objectTo'> {
  readonly door: Awaited<ReturnType<typeof openSshDoor>>;
  readonly launchd: ReturnType<typeof createLaunchd>;
}

/** Whether a node can be reached, and whether macOS runs there. */
interface PowerState {
  power: Power;
  isRunning: boolean;
}

/** The ways in which the power of a node changes. `signal` ends every wait: the fleet ends. */
function createPowerChanges(
  { scaledMs, startModel, unlockModel, note }: HostedNode,
  { disk, files, startProcesses, endProcesses, fallSilent }: NodePlace,
  { door, launchd, mark, view }: LivingNode,
  now: PowerState,
  signal: AbortSignal,
) {
  const wait = (macMs: number): Promise<void> => pause(scaledMs(macMs), undefined, { signal }).catch(() => undefined);
  const removeBootFile = (): Promise<void> => rm(join(disk, bootFilePath), { force: true });
  const end = async (): Promise<void> => {
    launchd.cut();
    await endProcesses();
    now.isRunning = false;
    now.power = 'down';
  };
  const goDown = async (): Promise<void> => {
    door.refuse();
    await removeBootFile();
    await launchd.shutdown();
    await wait(shutdownMs + (view().ailments.isSlowToStop ? slowMs : 0));
    door.cut();
    await end();
  };
  const loseCurrent = async (): Promise<void> => {
    now.power = 'going-down';
    if (fallSilent === undefined) {
      door.refuse();
      door.cut();
    } else {
      door.fallSilent();
      // The link goes first, or the kernel of this machine would tell everybody that the connections are over.
      await fallSilent();
    }
    await removeBootFile();
    await end();
  };
  const startMacos = async (): Promise<void> => {
    now.power = 'starting';
    door.refuse();
    door.cut();
    await wait(bootMs);
    if (signal.aborted) return;
    await unlockModel();
    await door.listen();
    now.power = 'up';
  };
  const comeUp = async (): Promise<void> => {
    now.power = 'starting';
    await wait(bootMs);
    if (signal.aborted) return;
    await files.clearVolatile();
    await startProcesses?.(mark());
    now.isRunning = true;
    await startModel();
    await writeBootFile(disk, mark());
    note({ kind: 'boot' });
    await door.listen();
    now.power = 'up';
  };
  return { goDown, loseCurrent, startMacos, comeUp };
}

/** Starts the life of a node that is up: its boot sessions. */
function createNodeLife(options: HostedNode, place: NodePlace, node: LivingNode) {
  const { note } = options;
  const { view, objectTo } = node;
  const now: PowerState = { power: 'up', isRunning: true };
  const ending = new AbortController();
  const { signal } = ending;
  const { goDown, loseCurrent, startMacos, comeUp } = createPowerChanges(options, place, node, now, signal);
  let under: Promise<void> = Promise.resolve();
  const begin = (act: () => Promise<void>): Promise<void> => {
    under = act().catch((error: unknown) => objectTo(`the simulator: ${String(error)}`));
    return under;
  };
  const goAndReturn = (go: () => Promise<void>, isStaying = view().ailments.isStayingOff): Promise<void> =>
    begin(async () => {
      await go();
      if (!isStaying) await comeUp();
    });
  return {
    power: () => now.power,
    /** Whether macOS runs there, reached or not: what launchd starts may ask and change before anybody gets in. */
    isRunning: () => now.isRunning,
    /** Begins to go down, and comes back where asked; resolves when it listens again, or is off. */
    restart: (to: 'up' | 'off', by: 'shutdown' | 'hands'): Promise<void> => {
      note({ kind: to === 'up' ? 'reboot' : 'power-off', by });
      if (now.power !== 'up' || signal.aborted) return under;
      now.power = 'going-down';
      return goAndReturn(goDown, to === 'off' || view().ailments.isStayingOff);
    },
    /** Ends everything in the middle of what it does, and leaves the Mac off. */
    cutPower: async (): Promise<void> => {
      await under;
      if (now.power === 'up') await begin(loseCurrent);
    },
    /** The kernel panics: ends everything in the middle of what it does, and starts again by itself. */
    panic: async (): Promise<void> => {
      await under;
      if (now.power === 'up' && !signal.aborted) await goAndReturn(loseCurrent);
    },
    /** Presses the button of a Mac that is off; resolves when it listens. */
    powerOn: async (): Promise<void> => {
      await under;
      if (now.power === 'down' && !signal.aborted) await begin(comeUp);
    },
    /** FileVault got its password: the node goes silent, starts macOS, and listens again. */
    unlock: async (): Promise<void> => {
      await under;
      if (now.power === 'up' && !signal.aborted) await begin(startMacos);
    },
    /** The fleet ends: nothing starts any more. Resolves when nothing is under way. */
    close: async (): Promise<void> => {
      ending.abort();
      await under;
    },
  };
}

/**
 * Opens the SSH door of a simulated Mac, on whichever host, unless Remote Login is off: a port of the loopback interface
 * that stands for its port 22. The life of the Mac opens and shuts it; while Remote Login is off it stays shut.
 *
 * @param state what the model says of the door at this moment
 * @param preferredPort tried first; taken from an earlier run so that known_hosts entries stay true
 * @throws the system's error when no port of the loopback interface can be had
 */
async function openSshDoor(
  { serve, setInside, allowHalfOpen = false }: NodeServer,
  state: () => ConnectionState,
  records: NodeRecords,
  preferredPort: number | undefined,
) {
  const clients = new Set<Socket>();
  let isSilent = false;
  const server = createServer({ noDelay: true, allowHalfOpen }, (client) => {
    track(client, clients, records);
    if (isSilent) return;
    const { dropAfterBytes } = state();
    if (dropAfterBytes !== undefined) dropAfter(client, dropAfterBytes);
    serve(client, records.counts().connections);
  });
  const isThere = preferredPort !== undefined && (await listenOn(server, preferredPort));
  if (!isThere) await listenOn(server, 0);
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;

  const isOff = (): boolean => state().isRemoteLoginOff === true;
  const cut = (): void => {
    for (const client of clients) client.destroy();
  };
  const refuse = (): void => {
    setInside?.(false);
    server.close();
  };
  const listen = async (): Promise<void> => {
    if (isOff()) return;
    setInside?.(true);
    if (isSilent) cut();
    isSilent = false;
    await listenAgain(server, port);
  };
  const follow = async (isMacThere: boolean): Promise<void> => {
    if (isOff()) refuse();
    else if (isMacThere) await listen();
  };
  await follow(true);
  return {
    port,
    /** Listens again on its port after it refused, if it does not listen. @throws the system's error when another program keeps the port */
    listen,
    /** Refuses new connections; living ones go on. */
    refuse,
    /** Cuts every living connection. */
    cut,
    /** Opens or shuts it as the model now says; a Mac that is not there opens it when it comes up. Open connections stay so. */
    follow,
    /** Until it listens again connections are accepted and nothing ever comes of them, as from a Mac without current. */
    fallSilent: (): void => {
      isSilent = true;
    },
    /** Refuses and cuts, for good. */
    close: (): Promise<void> =>
      new Promise((resolve) => {
        server.close(() => resolve());
        cut();
      }),
  };
}

function track(client: Socket, clients: Set<Socket>, records: NodeRecords): void {
  clients.add(client);
  records.count('connections');
  client.on('error', () => undefined);
  client.once('close', () => {
    clients.delete(client);
    records.count('receivedBytes', client.bytesRead);
    records.count('sentBytes', client.bytesWritten);
  });
}

const loopback = '127.0.0.1';
const portAttempts = 200;
const portPauseMs = 50;

/** False when the port is taken. */
function listenOn(server: Server, port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const failed = (error: NodeJS.ErrnoException): void => {
      if (port !== 0 && (error.code === 'EADDRINUSE' || error.code === 'EACCES')) resolve(false);
      else reject(error);
    };
    server.once('error', failed);
    server.listen(port, loopback, () => {
      server.off('error', failed);
      resolve(true);
    });
  });
}

/** The port may be in use by a connection of a different program in the meantime: it is waited for. */
async function listenAgain(server: Server, port: number): Promise<void> {
  for (let attempt = 0; attempt < portAttempts && !server.listening; attempt += 1) {
    if (await listenOn(server, port)) return;
    await pause(portPauseMs);
  }
  if (!server.listening) throw new Error(`port ${port} of a simulated node is taken by somebody else`);
}

const lingerMs = 2_000;

/**
 * Makes the node hang up after exactly `bytes` bytes towards the client. It ends with FIN, not RST: a reset would
 * discard what the client has not read yet, and the cut would not be exact. Only for a socket that is written to with
 * one argument and without a look at the result, as ssh2 and the namespace host do.
 */
function dropAfter(socket: Socket, bytes: number): void {
  const write = socket.write.bind(socket);
  let left = bytes;
  const cut = (): void => {
    socket.end();
    setTimeout(() => socket.destroy(), lingerMs).unref();
  };
  Object.defineProperty(socket, 'write', {
    // Node itself replaces `write` when the client ends its side; a fixed property would end the simulator.
    configurable: true,
    writable: true,
    value: (chunk: Uint8Array): boolean => {
      if (left <= 0) return false;
      const part = chunk.subarray(0, left);
      left -= part.length;
      const isFlushed = write(part);
      if (left <= 0) cut();
      return isFlushed;
    },
  });
  if (left <= 0) cut();
}
