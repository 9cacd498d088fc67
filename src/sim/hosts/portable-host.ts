import { mkdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { chooseSocketPath, removeSocket } from './control/control.ts';
import { createNode, type HostedNode, type HostRun, type SimulatedNode } from './fleet-host.ts';
import { startBelow } from './launchd-process.ts';
import { createLinkTables, type LinkTables } from './link-table.ts';
import { createNodeRoot } from './node-root.ts';
import { createProcessStarter } from './process-starter.ts';
import { createProcessGroups, startLifeline, sweepMarked } from './processes.ts';
import type { NodeRecords } from './records.ts';
import { loadNodeKeys } from './ssh/host-keys.ts';
import { createPipeSupply } from './ssh/pipes.ts';
import { createExecWatch, type ExecParts } from './ssh/sessions.ts';
import { serveSsh } from './ssh/ssh-server.ts';

/** A host for any machine: a folder is the Mac's root; ssh server and cables use the loopback interface. */
export const portableHost = {
  open: async (run: HostRun) => {
    const { runId, folder } = run;
    const lifeline = startLifeline(runId);
    const links = createLinkTables(new Map(run.nodes.map((name) => [name, join(folder, 'roots', name)])));
    const pipes = await createPipeSupply(join(folder, 'pipes'));
    const groups = createProcessGroups(lifeline);
    const starter = createProcessStarter();
    const watch = createExecWatch();
    const wire = await chooseSocketPath(folder, 'wire', '0a4d0001-0abcde');
    await mkdir(wire, { recursive: true });
    return {
      createNode: (node: HostedNode) =>
        createPortableNode({ ...run, links, pipes, groups, starter, watch, wire }, node),
      update: (nodes: readonly SimulatedNode[]) =>
        links.update(
          new Map(nodes.map((node) => [node.name, node.view().reach])),
          new Map(nodes.map(({ name, run: { port } }) => [name, port])),
        ),
      groupCount: groups.count,
      realPort: links.realPort,
      onExec: watch.add,
      close: async (): Promise<void> => {
        groups.killAll();
        await sweepMarked(runId);
        await links.close();
        await pipes.close();
        await removeSocket(wire);
        await starter.close();
        await lifeline.close();
      },
    };
  },
};

/** A Mac accepts one password per 15 s of its own time. Passwords that come sooner are counted as hasty. */
const attemptPauseMs = 15_000;

/** Counts the passwords sent to the sshd before FileVault, and those that came too soon. */
function countPasswords(scaledMs: HostedNode['scaledMs'], records: NodeRecords): () => void {
  let lastMs: number | undefined;
  return () => {
    const now = performance.now();
    records.count('prebootPasswords');
    if (lastMs !== undefined && now - lastMs < scaledMs(attemptPauseMs)) records.count('hastyPasswords');
    lastMs = now;
  };
}

/** Creates one node on disk and on the loopback interface. This process serves the node's clients. */
async function createPortableNode(
  on: HostRun & ExecParts & { readonly links: LinkTables; readonly wire: string },
  options: HostedNode,
): Promise<SimulatedNode> {
  const { runId, folder, userKey, askPath, links, groups, wire } = on;
  const { name, user, reusesDisk, scaledMs } = options;
  const root = join(folder, 'roots', name);
  const files = await createNodeRoot({ root, user, userKey: userKey.publicText, askPath, wire, reusesDisk });
  const keys = await loadNodeKeys(folder, name);
  return createNode(options, {
    ...{ runId, disk: root, root, files, keys },
    startJob: (mark) => startBelow({ name, root, mark, groups, clockFactor: scaledMs(1_000) / 1_000 }),
    beforeLoad: async (texts) => links.announce(name, [...texts, ...(await textsOfFiles(root, texts))]),
    filesOf: ({ files: rendered }) => rendered,
    serverOf: (node) => {
      const onPrebootPassword = countPasswords(scaledMs, node.records);
      const mac = { ...on, ...node, name, user, root, keys, onPrebootPassword };
      return { serve: (client, connection) => serveSsh(mac, client, connection) };
    },
    endProcesses: async () => {
      groups.killOwned(name);
      await sweepMarked(`${runId}.${name}`);
    },
  });
}

/** More than any list of addresses needs. */
const largestBytes = 65_536;

async function textOf(path: string): Promise<string> {
  try {
    const found = await stat(path);
    return found.isFile() && found.size <= largestBytes ? await readFile(path, 'utf8') : '';
  } catch {
    return '';
  }
}

/** The contents of all files that a job's texts name, since it may read its addresses from them. */
async function textsOfFiles(root: string, texts: readonly string[]): Promise<readonly string[]> {
  const paths = texts.filter((text) => text.startsWith(`${root}/`) && !text.split('/').includes('..'));
  return Promise.all([...new Set(paths)].map(textOf));
}
