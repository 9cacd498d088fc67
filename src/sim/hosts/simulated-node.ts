import { appendFile, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Reach } from '../model/wiring.ts';
import type { RunNode } from './control/run-folder.ts';
import type { NodeView } from './fleet-model.ts';
import { createLaunchd, type Launchd, startBelow } from './launchd.ts';
import { createNodeLife, type NodeLife, writeBootFile } from './node-life.ts';
import { createNodeRoot } from './node-root.ts';
import { attemptPauseMs } from './preboot.ts';
import type { ProcessStarter } from './process-starter.ts';
import { type ProcessGroups, sweepMarked } from './processes.ts';
import { createRecords, type EffectAct, type ExecRecord, type NodeCounts } from './records.ts';
import type { ExecWatch } from './ssh/exec-watch.ts';
import { type KeyFile, loadNodeKeys } from './ssh/host-keys.ts';
import type { PipeSupply } from './ssh/pipes.ts';
import { openSshDoor, type SshDoor } from './ssh/ssh-door.ts';
import { serveSsh } from './ssh/ssh-server.ts';
import type { Objection } from './strict-shell.ts';

/** What one node of a simulated fleet is made of. */
interface SimulatedNodeOptions {
  readonly name: string;
  readonly user: string;
  /** The folder of the run. */
  readonly folder: string;
  /** Of the fleet: the first part of every mark. */
  readonly runId: string;
  /** The program by which the tools reach the simulator. */
  readonly askText: string;
  readonly userKey: KeyFile;
  readonly pipes: PipeSupply;
  readonly groups: ProcessGroups;
  readonly starter: ProcessStarter;
  readonly look: () => NodeView;
  /** Whether the files of an earlier run are this Mac's disk. */
  readonly isKept: boolean;
  /** Told what the texts of a launchd job name before it is loaded. */
  readonly beforeLoad: (texts: readonly string[]) => Promise<void>;
  /** Lets the Mac start in the model, and brings every file in line with it. */
  readonly startModel: () => Promise<void>;
  /** Unlocks FileVault in the model, and brings every file in line with it. */
  readonly unlockModel: () => Promise<void>;
  readonly note: (act: EffectAct) => void;
  readonly watch: ExecWatch;
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

/** Everything about a node but its boot sessions. */
async function prepare(options: SimulatedNodeOptions) {
  const { name, user, folder, userKey, runId, askText, isKept } = options;
  const root = join(folder, 'roots', name);
  const unknownFile = join(root, '.sim/unknown');
  const { platform } = process;
  const files = await createNodeRoot({ root, user, userKey: userKey.publicText, platform, askText, isKept });
  let view = options.look();
  let boot = view.bootCount;
  const mark = (): string => `${runId}.${name}.${boot}`;
  const objectTo = (line: string): Promise<void> => appendFile(unknownFile, `${line}\n`);
  const launchd = createLaunchd({
    root,
    startJob: startBelow({ name, root, mark, groups: options.groups, clockFactor: options.scaledMs(1_000) / 1_000 }),
    scaledMs: options.scaledMs,
    intervalMs: options.intervalMs,
    objectTo: (line) => void objectTo(line).catch(() => undefined),
    beforeLoad: async (texts) => options.beforeLoad([...texts, ...(await textsOfFiles(root, texts))]),
  });
  return {
    root,
    files,
    mark,
    objectTo,
    launchd,
    records: createRecords(),
    view: () => view,
    look: () => {
      view = options.look();
      return view;
    },
    boot: () => boot,
    begin: () => {
      boot = options.look().bootCount;
    },
    unknown: async () => (await readFile(unknownFile, 'utf8')).split('\n').filter((line) => line !== ''),
    keys: await loadNodeKeys(folder, name),
  };
}

type Prepared = Awaited<ReturnType<typeof prepare>>;

/** Brings the files of the node in line with the model. */
function renderFiles({ look, files }: Prepared): Promise<void> {
  const { files: rendered, account, mac } = look();
  return files.update(rendered, account.hasKey, mac);
}

/** Counts the passwords that the sshd before FileVault is given, and the hasty ones among them. */
function countPasswords({ scaledMs }: SimulatedNodeOptions, { records }: Prepared): () => void {
  let lastMs: number | undefined;
  return () => {
    const now = performance.now();
    records.count('prebootPasswords');
    if (lastMs !== undefined && now - lastMs < scaledMs(attemptPauseMs)) records.count('hastyPasswords');
    lastMs = now;
  };
}

/** The door, and behind it a server of this process for each client. */
function openDoor(options: SimulatedNodeOptions, parts: Prepared, unlock: () => void): Promise<SshDoor> {
  const note = (objections: readonly Objection[]): void => {
    for (const { text } of objections) parts.objectTo(`/bin/sh ${text}`).catch(() => undefined);
  };
  const { mark, root, records, keys, view, boot } = parts;
  const server = {
    node: { ...options, mark, boot, root, records, objectTo: note, now: () => Date.now() },
    keys,
    connectionState: () => view().connection,
    password: () => view().account.password,
    onPrebootPassword: countPasswords(options, parts),
    unlock,
  };
  return openSshDoor({
    serve: (client, connection) => serveSsh(server, client, connection),
    state: () => view().connection,
    records,
    ...(options.preferredPort !== undefined && { preferredPort: options.preferredPort }),
  });
}

/** Puts one node on disk and on the loopback interface. Its services start with the first {@link SimulatedNode.wake}. */
export async function createSimulatedNode(options: SimulatedNodeOptions): Promise<SimulatedNode> {
  const parts = await prepare(options);
  const { name, runId, groups, note, scaledMs, startModel, unlockModel } = options;
  const { root, files, mark, launchd, view, objectTo, records, keys, boot } = parts;
  await renderFiles(parts);
  await writeBootFile(root, mark());
  const door = await openDoor(options, parts, () => void life.unlock());
  let isAsleep = true;
  const ailments = () => view().ailments;
  const endProcesses = async (): Promise<void> => {
    groups.killOwned(name);
    await sweepMarked(`${runId}.${name}`);
  };
  const life: NodeLife = createNodeLife(
    { name, root, door, launchd, endProcesses, scaledMs, note, objectTo, ailments, startModel, unlockModel },
    mark,
  );
  return {
    name,
    run: {
      port: door.port,
      hostKey: keys.own.publicText,
      prebootKey: keys.preboot.publicText,
      root,
      user: options.user,
    },
    disk: root,
    launchd,
    life,
    boot,
    mark,
    objectTo,
    counts: records.counts,
    execs: records.execs,
    unknown: parts.unknown,
    view,
    reach: () => view().reach,
    edited: files.edited,
    render: async () => {
      // The disk of a running Mac cannot be taken out.
      if (life.power() === 'up' && files.isOfAnother(parts.look().mac)) return;
      await renderFiles(parts);
      await door.follow(life.power() === 'up');
    },
    isExchanged: () => files.isOfAnother(view().mac),
    begin: () => {
      parts.begin();
      isAsleep = true;
    },
    wake: async () => {
      if (!isAsleep || life.power() === 'down' || view().connection.filevault === 'preboot') return;
      isAsleep = false;
      await launchd.boot();
    },
    isAwake: () => !isAsleep,
    close: async () => {
      launchd.close();
      await life.close();
      await door.close();
    },
  };
}

/** No list of addresses is longer. */
const largestBytes = 65_536;

async function textOf(path: string): Promise<string> {
  try {
    const found = await stat(path);
    return found.isFile() && found.size <= largestBytes ? await readFile(path, 'utf8') : '';
  } catch {
    return '';
  }
}

/** What stands in the files that the texts of a job name below this folder: a job may have its addresses there. */
async function textsOfFiles(root: string, texts: readonly string[]): Promise<readonly string[]> {
  const paths = texts.filter((text) => text.startsWith(`${root}/`) && !text.split('/').includes('..'));
  return Promise.all([...new Set(paths)].map(textOf));
}
