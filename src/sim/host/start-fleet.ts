import { randomBytes } from 'node:crypto';
import { chmod, mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { diagnose } from '../../diagnostics/diagnose.ts';
import { FleetError } from '../../diagnostics/fleet-error.ts';
import { type AskedFleet, answerAsk } from './answer-ask.ts';
import { askClientText } from './ask-client.ts';
import { type AskServer, serveAsks } from './ask-server.ts';
import { chooseSocketPath } from './control.ts';
import { createEffectLog, type Effect, type EffectLog } from './effects.ts';
import type { FaultAnswer, FleetModel } from './fleet-model.ts';
import { type KeyFile, loadOrCreateKey } from './host-keys.ts';
import { type Lifeline, startLifeline, sweepMarked } from './lifeline.ts';
import { createLinkTables, type LinkTables, nowhere } from './link-table.ts';
import { createPipeSupply, type PipeSupply } from './pipes.ts';
import { createProcessGroups, type ProcessGroups } from './process-groups.ts';
import type { ExecRecord, NodeCounts } from './records.ts';
import type { RunNode } from './run-file.ts';
import { createSimulatedNode, type SimulatedNode } from './simulated-node.ts';
import { createTurns } from './turns.ts';

/** What a simulated fleet is started with. */
export interface StartFleetOptions {
  /** Private to the run: keys, roots, pipes. Keys in it are used again. */
  readonly folder: string;
  readonly model: FleetModel;
  /** Ports of an earlier run by node, tried first. */
  readonly ports?: Readonly<Record<string, number>>;
}

/** A running simulated fleet in this process. */
export interface Fleet {
  readonly runId: string;
  readonly userKey: KeyFile;
  readonly nodes: Readonly<Record<string, RunNode>>;
  readonly counts: () => Readonly<Record<string, NodeCounts>>;
  /** Every kept command, by time. */
  readonly execs: () => readonly ExecRecord[];
  /** Every write, stop, deletion of model files and boot, in order. */
  readonly effects: () => readonly Effect[];
  /** Lines of `/.sim/unknown` by node: what a Mac would not have known. */
  readonly unknown: () => Promise<Readonly<Record<string, readonly string[]>>>;
  /** How many process groups of node commands live. */
  readonly groupCount: () => number;
  /** Both re-render every node before they answer. */
  readonly setFault: (words: readonly string[]) => Promise<FaultAnswer>;
  readonly clearFault: (words: readonly string[]) => Promise<FaultAnswer>;
  /** Cuts every connection and ends every process; may be called twice. */
  readonly stop: () => Promise<void>;
}

interface Parts {
  readonly runId: string;
  readonly lifeline: Lifeline;
  readonly groups: ProcessGroups;
  readonly pipes: PipeSupply;
  readonly userKey: KeyFile;
  readonly nodes: readonly SimulatedNode[];
  readonly asks: AskServer;
  readonly effects: EffectLog;
  readonly asked: AskedFleet;
  readonly links: LinkTables;
}

/** A colon would split PATH, and sshd would refuse a folder that others can write. */
async function prepareFolder(wanted: string): Promise<string> {
  const folder = resolve(wanted);
  if (/[:\n]/.test(folder)) {
    throw new FleetError([
      diagnose('sim/run-folder', { detail: `The run folder ${folder} has a colon or a line break in its name.` }),
    ]);
  }
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await chmod(folder, 0o700);
  return folder;
}

/**
 * Brings up every node of a model behind real SSH on the loopback interface. The roots are made anew; host keys and
 * the client's key in the folder are kept.
 *
 * @throws FleetError `sim/run-folder`
 */
export async function startFleet(options: StartFleetOptions): Promise<Fleet> {
  const folder = await prepareFolder(options.folder);
  const runId = randomBytes(6).toString('hex');
  const userKey = await loadOrCreateKey(join(folder, 'user-key'), 'simulated');
  const pipes = await createPipeSupply(join(folder, 'pipes'));
  const lifeline = startLifeline(runId);
  const groups = createProcessGroups(lifeline);
  const askPath = await chooseSocketPath(folder, 'ask.sock');
  const askText = askClientText(askPath);
  const roots = options.model.nodes.map(({ name }) => [name, join(folder, 'roots', name)] as const);
  const links = createLinkTables(new Map(roots));
  const started = await Promise.allSettled(
    options.model.nodes.map(({ name, user }) =>
      createSimulatedNode({
        name,
        user,
        folder,
        runId,
        askText,
        userKey,
        pipes,
        groups,
        look: () => options.model.look(name),
        beforeLoad: (texts) => links.announce(name, texts),
        ...(options.ports?.[name] !== undefined && { preferredPort: options.ports[name] }),
      }),
    ),
  );
  const nodes = started.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const effects = createEffectLog();
  const asked = askedFleet(options.model, nodes, effects, links);
  const asks = await serveAsks(askPath, (request) => answerAsk(asked, request));
  const parts = { runId, lifeline, groups, pipes, userKey, nodes, asks, effects, asked, links };
  const failed = started.find((one) => one.status === 'rejected');
  if (failed !== undefined) {
    await stopParts(parts);
    throw failed.reason;
  }
  await asked.render();
  await Promise.all(nodes.map((node) => node.launchd.boot()));
  return fleetOf(parts, options.model);
}

const askedFleet = (
  model: FleetModel,
  nodes: readonly SimulatedNode[],
  effects: EffectLog,
  links: LinkTables,
): AskedFleet => ({
  model,
  nodes,
  takeTurn: createTurns(),
  note: (node, act) => effects.add({ ...act, node: node.name, boot: node.boot(), atEpochMs: Date.now() }),
  render: async () => {
    await Promise.all(nodes.map((node) => node.render()));
    await links.update(new Map(nodes.map((node) => [node.name, node.reach() ?? nowhere])));
  },
});

async function stopParts({ runId, lifeline, groups, pipes, nodes, asks, links }: Parts): Promise<void> {
  await Promise.all(nodes.map((node) => node.close()));
  for (const node of nodes) node.launchd.cut();
  groups.killAll();
  await sweepMarked(runId);
  await asks.close();
  await links.close();
  await pipes.close();
  await lifeline.close();
}

function fleetOf(parts: Parts, model: FleetModel): Fleet {
  const { nodes, asked } = parts;
  const byName = <T>(value: (node: SimulatedNode) => T): Readonly<Record<string, T>> =>
    Object.fromEntries(nodes.map((node) => [node.name, value(node)]));
  const change = (act: () => FaultAnswer): Promise<FaultAnswer> =>
    asked.takeTurn(async () => {
      const answer = act();
      if (answer.kind === 'done') await asked.render();
      return answer;
    });
  let stopped: Promise<void> | undefined;
  return {
    runId: parts.runId,
    userKey: parts.userKey,
    nodes: byName((node) => node.run),
    counts: () => byName((node) => node.counts()),
    execs: () => nodes.flatMap((node) => node.execs()).sort((a, b) => a.atEpochMs - b.atEpochMs),
    effects: parts.effects.all,
    unknown: async () =>
      Object.fromEntries(await Promise.all(nodes.map(async (node) => [node.name, await node.unknown()] as const))),
    groupCount: () => parts.groups.count(),
    setFault: (words) => change(() => model.setFault(words)),
    clearFault: (words) => change(() => model.clearFault(words)),
    stop: () => {
      stopped ??= stopParts(parts);
      return stopped;
    },
  };
}
