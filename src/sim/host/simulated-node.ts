import { appendFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Reach } from '../launchd/reach.ts';
import type { NodeView } from './fleet-model.ts';
import { type KeyFile, loadOrCreateKey } from './host-keys.ts';
import { createLaunchd, type Launchd } from './launchd.ts';
import { createNodeRoot } from './node-root.ts';
import type { PipeSupply } from './pipes.ts';
import type { ProcessGroups } from './process-groups.ts';
import { createRecords, type ExecRecord, type NodeCounts } from './records.ts';
import type { RunNode } from './run-file.ts';
import { startNodeServer } from './ssh-server.ts';
import type { Objection } from './strict-shell.ts';

/** What one node of a simulated fleet is made of. */
export interface SimulatedNodeOptions {
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
  readonly look: () => NodeView;
  /** Told what the texts of a launchd job name before it is loaded. */
  readonly beforeLoad: (texts: readonly string[]) => Promise<void>;
  readonly preferredPort?: number;
}

/** One simulated Mac that can be reached. */
export interface SimulatedNode {
  readonly name: string;
  readonly run: RunNode;
  readonly counts: () => NodeCounts;
  readonly execs: () => readonly ExecRecord[];
  readonly unknown: () => Promise<readonly string[]>;
  readonly launchd: Launchd;
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
  /** Brings files and connection in line with the model. */
  readonly render: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Puts one node on disk and on the loopback interface. */
export async function createSimulatedNode(options: SimulatedNodeOptions): Promise<SimulatedNode> {
  const { name, user, folder, userKey, runId, askText } = options;
  const root = join(folder, 'roots', name);
  const unknownFile = join(root, '.sim/unknown');
  const records = createRecords();
  const files = await createNodeRoot({ root, user, userKey: userKey.publicText, platform: process.platform, askText });
  let view = options.look();
  const render = async (): Promise<void> => {
    view = options.look();
    await files.update(view.files);
  };
  await render();
  const keys = {
    own: await loadOrCreateKey(join(folder, 'host-keys', name), `simulated ${name}`),
    other: await loadOrCreateKey(join(folder, 'host-keys', `${name}.other`), `simulated ${name}`),
  };
  const mark = (): string => `${runId}.${name}.${view.bootCount}`;
  const note = (objections: readonly Objection[]): void => {
    if (objections.length === 0) return;
    const lines = objections.map((objection) => `/bin/sh ${objection.text}\n`).join('');
    appendFile(unknownFile, lines).catch(() => undefined);
  };
  const objectTo = (line: string): Promise<void> => appendFile(unknownFile, `${line}\n`);
  const launchd = createLaunchd({
    root,
    mark,
    groups: options.groups,
    scaledMs: (macMs) => macMs,
    objectTo: (line) => void objectTo(line).catch(() => undefined),
    beforeLoad: options.beforeLoad,
  });
  const server = await startNodeServer({
    node: { ...options, mark, root, records, objectTo: note, now: () => Date.now() },
    keys,
    userKey: userKey.publicText,
    connectionState: () => view.connection,
    ...(options.preferredPort !== undefined && { preferredPort: options.preferredPort }),
  });
  return {
    name,
    run: { port: server.port, hostKey: keys.own.publicText, root, user },
    counts: records.counts,
    execs: records.execs,
    unknown: async () => (await readFile(unknownFile, 'utf8')).split('\n').filter((line) => line !== ''),
    boot: () => view.bootCount,
    mark,
    objectTo,
    launchd,
    reach: () => view.reach,
    edited: files.edited,
    render,
    close: server.close,
  };
}
