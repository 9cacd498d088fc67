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

export interface HostRun {
  readonly runId: string;
  /** Used only by this run. Each node's disk is in `roots/NODE`. */
  readonly folder: string;
  /** In file order. */
  readonly nodes: readonly string[];
  readonly userKey: KeyFile;
  /** Socket on which the simulator already listens for requests from the tools of all nodes. */
  readonly askPath: string;
}

export interface HostedNode {
  readonly name: string;
  readonly user: string;
  readonly readModel: () => NodeView;
  readonly reusesDisk: boolean;
  /** Boots the Mac in the model and updates all of its files. */
  readonly startModel: () => Promise<void>;
  /** Unlocks FileVault in the model and updates all of its files. */
  readonly unlockModel: () => Promise<void>;
  readonly note: (act: EffectAct) => void;
  /** Converts the Mac's simulated milliseconds to real milliseconds. */
  readonly scaledMs: (macMs: number) => number;
  /** Converts milliseconds of launchd's start intervals into real milliseconds. */
  readonly intervalMs: (macMs: number) => number;
  readonly preferredPort?: number;
}

interface NodePlace {
  /** Identifies the fleet; the first part of every mark. */
  readonly runId: string;
  /** The folder that represents `/`, as a path for this process. */
  readonly disk: string;
  /** The same folder, as a path for the node's own processes. Empty if it is their `/`. */
  readonly root: string;
  readonly files: NodeRoot;
  readonly keys: NodeKeys;
  /** Starts the node's processes, each with the mark of the current boot session. */
  readonly startJob: (mark: () => string) => StartJob;
  /** Called with texts that contain the addresses on which a process will listen, such as those of a launchd job. */
  readonly beforeLoad: (texts: readonly string[]) => Promise<void>;
  readonly filesOf: (view: NodeView, mark: string) => readonly NodeFile[] | Promise<readonly NodeFile[]>;
  readonly serverOf: (node: ServedNode) => NodeServer;
  /** Starts processes that must run before the node's services. */
  readonly startProcesses?: (mark: string) => Promise<void>;
  readonly endProcesses: () => Promise<void>;
  /** Disconnects the node, because a Mac without power does not answer. Absent if the host cannot do that. */
  readonly fallSilent?: () => Promise<void>;
  /** Commands received over SSH, if the host does not record them itself. */
  readonly execs?: () => readonly ExecRecord[];
  readonly close?: () => Promise<void>;
}

/** A node, from the perspective of the server behind its SSH port. */
export interface ServedNode {
  readonly boot: () => number;
  readonly mark: () => string;
  readonly view: () => NodeView;
  readonly objectTo: (line: string) => Promise<void>;
  readonly records: NodeRecords;
  readonly unlock: () => void;
}

interface NodeServer {
  readonly serve: (client: Socket, connection: number) => void;
  /** Needed for a server that does not close its own side: a client that has finished sending still receives output. */
  readonly allowHalfOpen?: boolean;
  /** Opens and closes the node's own port 22, if it has one, together with the SSH port. */
  readonly setInside?: (isOpen: boolean) => void;
}

/** The state that all parts of a node share: its view of the model, and its boot session. */
function createNodeState({ name, readModel }: HostedNode, { disk, runId, files, filesOf }: NodePlace) {
  const unknownFile = join(disk, '.sim/unknown');
  const view = readModel();
  const now = { view, boot: view.bootCount, isAsleep: true };
  const mark = (): string => `${runId}.${name}.${now.boot}`;
  return {
    now,
    known: {
      /** The node's view of the model at the last rendering. */
      view: (): NodeView => now.view,
      boot: (): number => now.boot,
      /** `<run id>.<node>.<boot>`, which is in the environment of every process of the current boot session. */
      mark,
      /** Records input that a Mac would not understand. */
      objectTo: (line: string): Promise<void> => appendFile(unknownFile, `${line}\n`),
    },
    unknown: async (): Promise<readonly string[]> =>
      (await readFile(unknownFile, 'utf8')).split('\n').filter((line) => line !== ''),
    renderFiles: async (): Promise<void> => {
      now.view = readModel();
      await files.update(await filesOf(now.view, mark()), now.view.hasKey, now.view.mac);
    },
  };
}

/** Writes a node's files, boots it and opens its SSH port. The first {@link SimulatedNode.wake} starts its services. */
export async function createNode(options: HostedNode, place: NodePlace) {
  const { name, scaledMs, intervalMs, readModel } = options;
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
  const ssh = await openSshServer(server, () => now.view.connection, records, options.preferredPort);
  const life = createNodeLife(options, place, { ...known, ssh, launchd });
  const execs = place.execs ?? records.execs;
  const [hostKey, prebootKey] = [keys.own.publicText, keys.preboot.publicText];
  const run: RunNode = { port: ssh.port, hostKey, prebootKey, root, user: options.user };
  return {
    name,
    disk,
    ...known,
    unknown,
    /** The text of a rendered file if the node has changed the file since; empty if the file was deleted. */
    edited: files.edited,
    /** Whether the model's Mac here is different from the owner of the current disk. */
    isExchanged: (): boolean => files.isOfAnother(now.view.mac),
    /** Starts a new boot session for all processes that start from now on. */
    begin: (): void => {
      now.boot = readModel().bootCount;
      now.isAsleep = true;
    },
    run,
    announce: place.beforeLoad,
    launchd,
    life,
    counts: () =>
      place.execs === undefined
        ? records.counts()
        : { ...records.counts(), execs: execs().length, channels: execs().length },
    execs,
    /** If the Mac was replaced, the update waits until the old Mac is off. */
    render: async (): Promise<void> => {
      now.view = readModel();
      // The disk of a running Mac cannot be exchanged.
      if (life.power() === 'up' && files.isOfAnother(now.view.mac)) return;
      await renderFiles();
      await ssh.follow(life.power() === 'up');
    },
    /** Starts the services of a Mac that has booted and is not waiting for a password. */
    wake: async (): Promise<void> => {
      if (!now.isAsleep || life.power() === 'down' || now.view.connection.filevault === 'preboot') return;
      now.isAsleep = false;
      await launchd.boot();
    },
    /** Whether the Mac's services were started in the current boot session. */
    isAwake: (): boolean => !now.isAsleep,
    close: async (): Promise<void> => {
      launchd.close();
      await life.close();
      await place.close?.();
      await ssh.close();
    },
  };
}

export type SimulatedNode = Awaited<ReturnType<typeof createNode>>;

export interface OpenHost {
  readonly createNode: (node: HostedNode) => Promise<SimulatedNode>;
  /** Updates the network between the nodes after a change in the model. */
  readonly update: (nodes: readonly SimulatedNode[]) => Promise<void>;
  /** Kills all processes and removes files that only a running fleet needs. The nodes are already closed. */
  readonly close: () => Promise<void>;
}

/** An environment that runs simulated Macs. Hosts differ in root prefixes, networks, and how they stop processes. */
export interface FleetHost<Open extends OpenHost> {
  readonly open: (run: HostRun) => Promise<Open>;
}

/** An idle Mac needs 17 s to stop its services, reboot, and answer on its network again (measured by SQCU). */
const shutdownMs = 5_000;
const bootMs = 12_000;
/** Additional time if a process does not stop, until the watchdog resets the Mac: 253 s in total (measured by SQCU). */
const slowMs = 236_000;

/** The file that shows whether a node is up, and contains the mark of its processes. */
export const bootFilePath = '/.sim/boot';

const writeBootFile = (root: string, mark: string): Promise<void> => writeFile(join(root, bootFilePath), `${mark}\n`);

/** A node, from the perspective of its power control. */
interface LivingNode extends Pick<ServedNode, 'mark' | 'view' | 'objectTo'> {
  readonly ssh: Awaited<ReturnType<typeof openSshServer>>;
  readonly launchd: ReturnType<typeof createLaunchd>;
}

interface PowerState {
  /** Whether a node is reachable; `down` until its button is pressed. */
  power: 'up' | 'going-down' | 'down' | 'starting';
  isRunning: boolean;
}

/** The transitions of a node's power state. `signal` aborts every wait when the fleet stops. */
function createPowerChanges(
  { scaledMs, startModel, unlockModel, note }: HostedNode,
  { disk, files, startProcesses, endProcesses, fallSilent }: NodePlace,
  { ssh, launchd, mark, view }: LivingNode,
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
    ssh.refuse();
    await removeBootFile();
    await launchd.shutdown();
    await wait(shutdownMs + (view().ailments.isSlowToStop ? slowMs : 0));
    ssh.cut();
    await end();
  };
  const loseCurrent = async (): Promise<void> => {
    now.power = 'going-down';
    if (fallSilent === undefined) {
      ssh.refuse();
      ssh.cut();
    } else {
      ssh.fallSilent();
      // Disconnects the network first. Otherwise this machine's kernel would close the connections to all peers.
      await fallSilent();
    }
    await removeBootFile();
    await end();
  };
  const startMacos = async (): Promise<void> => {
    now.power = 'starting';
    ssh.refuse();
    ssh.cut();
    await wait(bootMs);
    if (signal.aborted) return;
    await unlockModel();
    await ssh.listen();
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
    await ssh.listen();
    now.power = 'up';
  };
  return { goDown, loseCurrent, startMacos, comeUp };
}

/** Controls the boot sessions of a node, which is initially up. */
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
  /** Waits for the transition in progress, and starts if the node is then in this state. */
  const beginIf = async (power: 'up' | 'down', act: () => Promise<void>): Promise<void> => {
    await under;
    if (now.power === power && !signal.aborted) await begin(act);
  };
  const goAndReturn = async (go: () => Promise<void>, isStaying = view().ailments.isStayingOff): Promise<void> => {
    await go();
    if (!isStaying) await comeUp();
  };
  return {
    power: () => now.power,
    /** Whether macOS is running. launchd's jobs can use the simulator before the node is reachable. */
    isRunning: () => now.isRunning,
    /** Shuts the node down and, if requested, restarts it. Resolves when the node listens again or is off. */
    restart: (to: 'up' | 'off', by: 'shutdown' | 'hands'): Promise<void> => {
      note({ kind: to === 'up' ? 'reboot' : 'power-off', by });
      if (now.power !== 'up' || signal.aborted) return under;
      now.power = 'going-down';
      return begin(() => goAndReturn(goDown, to === 'off' || view().ailments.isStayingOff));
    },
    /** Kills everything immediately and leaves the Mac off. */
    cutPower: () => beginIf('up', loseCurrent),
    /** Simulates a kernel panic: kills everything immediately, then boots. */
    panic: () => beginIf('up', () => goAndReturn(loseCurrent)),
    /** Presses the button of a Mac that is off; resolves when the Mac listens. */
    powerOn: () => beginIf('down', comeUp),
    /** After the FileVault password: the node is silent, boots macOS, and listens again. */
    unlock: () => beginIf('up', startMacos),
    /** Prevents further transitions when the fleet stops. Resolves when no transition is in progress. */
    close: async (): Promise<void> => {
      ending.abort();
      await under;
    },
  };
}

/**
 * Opens a simulated Mac's SSH port, a loopback port that represents port 22. The port is closed while Remote Login is
 * off; otherwise it opens and closes with the Mac.
 *
 * @param state the current connection state in the model
 * @param preferredPort port of an earlier run, which is tried first, so that known_hosts entries remain valid
 * @throws the system's error if no loopback port is available
 */
async function openSshServer(
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
  if (preferredPort === undefined || !(await listenOn(server, preferredPort))) await listenOn(server, 0);
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
    /**
     * Listens on its port again, unless it already does. @throws the system's error if a different program uses the
     * port
     */
    listen,
    /** Refuses new connections; open connections continue. */
    refuse,
    cut,
    /** Opens or closes the port to match the model, and opens only a running Mac's. Connections continue. */
    follow,
    /** Accepts connections but never answers, like a Mac without power, until it listens again. */
    fallSilent: (): void => {
      isSilent = true;
    },
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

/** Listens on a port of 127.0.0.1; false if the port is in use. */
export function listenOn(server: Server, port: number): Promise<boolean> {
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

/** Waits for the port, which a different program's connection may use in the meantime. */
async function listenAgain(server: Server, port: number): Promise<void> {
  for (let attempt = 0; attempt < portAttempts && !server.listening; attempt += 1) {
    if (await listenOn(server, port)) return;
    await pause(portPauseMs);
  }
  if (!server.listening) throw new Error(`port ${port} of a simulated node is in use by a different program`);
}

const lingerMs = 2_000;

/**
 * Closes the connection after exactly `bytes` bytes to the client. The connection ends with FIN, because a reset would
 * discard data that the client has not read yet. Works only if callers pass one argument to `write` and ignore its
 * result, like ssh2 and the namespace host.
 */
function dropAfter(socket: Socket, bytes: number): void {
  const write = socket.write.bind(socket);
  let left = bytes;
  const cut = (): void => {
    socket.end();
    setTimeout(() => socket.destroy(), lingerMs).unref();
  };
  Object.defineProperty(socket, 'write', {
    // Node itself replaces `write` when the client ends its side. A read-only property would crash the simulator.
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
