import { appendFile, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { askClientText } from './ask-client.ts';
import type { FleetHost, HostedNode, SimulatedNode } from './fleet-host.ts';
import { createLaunchd, startBelow } from './launchd.ts';
import { createLinkTables, nowhere } from './link-table.ts';
import { createNodeLife, type NodeLife, writeBootFile } from './node-life.ts';
import { createNodeRoot } from './node-root.ts';
import { createProcessStarter, type ProcessStarter } from './process-starter.ts';
import { createProcessGroups, type ProcessGroups, startLifeline, sweepMarked } from './processes.ts';
import { createRecords } from './records.ts';
import type { ExecWatch } from './ssh/exec-watch.ts';
import { type KeyFile, loadNodeKeys } from './ssh/host-keys.ts';
import { createPipeSupply, type PipeSupply } from './ssh/pipes.ts';
import { openSshDoor, type SshDoor } from './ssh/ssh-door.ts';
import { attemptPauseMs, serveSsh } from './ssh/ssh-server.ts';
import type { Objection } from './strict-shell.ts';

/** Runs anywhere: a folder is the root of a Mac, its ssh server and its cables lie on the loopback interface. */
export const portableHost: FleetHost = {
  open: async ({ runId, folder, nodes: names, userKey, askPath }, watch) => {
    const lifeline = startLifeline(runId);
    const links = createLinkTables(new Map(names.map((name) => [name, join(folder, 'roots', name)])));
    const pipes = await createPipeSupply(join(folder, 'pipes'));
    const groups = createProcessGroups(lifeline);
    const starter = createProcessStarter();
    const askText = askClientText(askPath);
    return {
      createNode: (node) =>
        createPortableNode({
          ...node,
          folder,
          runId,
          askText,
          userKey,
          pipes,
          groups,
          starter,
          watch,
          beforeLoad: (texts) => links.announce(node.name, texts),
        }),
      update: (nodes) => links.update(new Map(nodes.map((node) => [node.name, node.reach() ?? nowhere]))),
      groupCount: groups.count,
      close: async () => {
        groups.killAll();
        await sweepMarked(runId);
        await links.close();
        await pipes.close();
        await starter.close();
        await lifeline.close();
      },
    };
  },
};

/** What a node of this host is made of. */
interface PortableNodeOptions extends HostedNode {
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
  /** Told what the texts of a launchd job name before it is loaded. */
  readonly beforeLoad: (texts: readonly string[]) => Promise<void>;
  readonly watch: ExecWatch;
}

/** Everything about a node but its boot sessions. */
async function prepare(options: PortableNodeOptions) {
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
function countPasswords({ scaledMs }: PortableNodeOptions, { records }: Prepared): () => void {
  let lastMs: number | undefined;
  return () => {
    const now = performance.now();
    records.count('prebootPasswords');
    if (lastMs !== undefined && now - lastMs < scaledMs(attemptPauseMs)) records.count('hastyPasswords');
    lastMs = now;
  };
}

/** The door, and behind it a server of this process for each client. */
function openDoor(options: PortableNodeOptions, parts: Prepared, unlock: () => void): Promise<SshDoor> {
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
async function createPortableNode(options: PortableNodeOptions): Promise<SimulatedNode> {
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
