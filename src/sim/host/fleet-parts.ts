import { randomBytes } from 'node:crypto';
import { chmod, mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { diagnose } from '../../diagnostics/diagnose.ts';
import { FleetError } from '../../diagnostics/fleet-error.ts';
import { preferencesPath } from '../network-preferences.ts';
import { type AskedFleet, answerAsk } from './answer-ask.ts';
import { askClientText } from './ask-client.ts';
import { type AskServer, serveAsks } from './ask-server.ts';
import { chooseSocketPath } from './control.ts';
import { createEffectLog, type EffectLog } from './effects.ts';
import { createExecWatch, type ExecWatch } from './exec-watch.ts';
import type { FleetModel } from './fleet-model.ts';
import type { StartFleetOptions } from './fleet-options.ts';
import { type KeyFile, loadOrCreateKey } from './host-keys.ts';
import { type Lifeline, startLifeline, sweepMarked } from './lifeline.ts';
import { createLinkTables, type LinkTables, nowhere } from './link-table.ts';
import { createPipeSupply, type PipeSupply } from './pipes.ts';
import { createProcessGroups, type ProcessGroups } from './process-groups.ts';
import { saveState } from './saved-state.ts';
import { createSimulatedNode, type SimulatedNode } from './simulated-node.ts';
import { createTurns } from './turns.ts';

/** Everything that a running fleet is made of. */
export interface FleetParts {
  readonly runId: string;
  readonly lifeline: Lifeline;
  readonly groups: ProcessGroups;
  readonly pipes: PipeSupply;
  readonly userKey: KeyFile;
  readonly nodes: readonly SimulatedNode[];
  readonly asks: AskServer;
  readonly askPath: string;
  readonly effects: EffectLog;
  readonly watch: ExecWatch;
  readonly asked: AskedFleet;
  readonly links: LinkTables;
}

/** So that a reboot of a rehearsal is over before anybody gets impatient. */
const usualClockFactor = 1 / 20;

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

/** Disks of nodes that are no longer in the file go; for all others this is a start, with the preferences as they lie there. */
async function startKeptMacs(model: FleetModel, folder: string): Promise<void> {
  const names = model.nodes.map(({ name }) => name);
  const found = await readdir(join(folder, 'roots')).catch(() => []);
  for (const name of found.filter((one) => !names.includes(one))) {
    await rm(join(folder, 'roots', name), { recursive: true, force: true });
  }
  for (const name of names.filter(model.isKept)) {
    const text = await readFile(join(folder, 'roots', name, preferencesPath), 'utf8').catch(() => undefined);
    if (text !== undefined) model.reread(name, text);
    model.boot(name, Math.floor(Date.now() / 1000));
  }
}

/** What all nodes share, made before any of them. */
async function buildShared(options: StartFleetOptions, folder: string) {
  const runId = randomBytes(6).toString('hex');
  const lifeline = startLifeline(runId);
  const nodes: SimulatedNode[] = [];
  const effects = createEffectLog();
  const roots = options.model.nodes.map(({ name }) => [name, join(folder, 'roots', name)] as const);
  const links = createLinkTables(new Map(roots));
  const userKey = await loadOrCreateKey(join(folder, 'user-key'), 'simulated');
  const pipes = await createPipeSupply(join(folder, 'pipes'));
  const groups = createProcessGroups(lifeline);
  const asked = askedFleet({ model: options.model, folder, nodes, effects, links });
  const askPath = await chooseSocketPath(folder, 'ask.sock');
  const asks = await serveAsks(askPath, (request) => answerAsk(asked, request));
  const askText = askClientText(askPath);
  const watch = createExecWatch();
  return {
    runId,
    lifeline,
    groups,
    pipes,
    userKey,
    nodes,
    asks,
    askPath,
    askText,
    effects,
    watch,
    asked,
    links,
    folder,
  };
}

type Shared = Awaited<ReturnType<typeof buildShared>>;

function askedFleet(
  parts: Pick<Shared, 'nodes' | 'effects' | 'links' | 'folder'> & { readonly model: FleetModel },
): AskedFleet {
  const { model, nodes, effects, links, folder } = parts;
  return {
    model,
    nodes,
    takeTurn: createTurns(),
    note: (node, act) => effects.add({ ...act, node: node.name, boot: node.boot(), atEpochMs: Date.now() }),
    settle: async () => {
      const state = model.save();
      if (state !== undefined) await saveState(folder, state);
      await Promise.all(nodes.map((node) => node.render()));
      await links.update(new Map(nodes.map((node) => [node.name, node.reach() ?? nowhere])));
      await Promise.all(nodes.map((node) => node.wake()));
    },
  };
}

/** The Mac behind a node starts: its preferences are read as they lie there, and everything follows from that. */
async function startModel({ asked }: Shared, node: SimulatedNode): Promise<void> {
  await asked.takeTurn(async () => {
    const edited = await node.edited(preferencesPath);
    if (edited !== undefined) asked.model.reread(node.name, edited);
    asked.model.boot(node.name, Math.floor(Date.now() / 1000));
    node.begin();
    await asked.settle();
  });
}

async function buildNode(
  { model, ports, clockFactor = usualClockFactor }: StartFleetOptions,
  shared: Shared,
  { name, user }: FleetModel['nodes'][number],
): Promise<void> {
  const { asked, links } = shared;
  const node: SimulatedNode = await createSimulatedNode({
    ...shared,
    name,
    user,
    look: () => model.look(name),
    isKept: model.isKept(name),
    beforeLoad: (texts) => links.announce(name, texts),
    startModel: () => startModel(shared, node),
    note: (act) => asked.note(node, act),
    scaledMs: (macMs) => macMs * clockFactor,
    ...(ports?.[name] !== undefined && { preferredPort: ports[name] }),
  });
  shared.nodes.push(node);
}

/** Makes every part of a fleet and starts its Macs. @throws FleetError `sim/run-folder` */
export async function buildFleet(options: StartFleetOptions): Promise<FleetParts> {
  const folder = await prepareFolder(options.folder);
  await startKeptMacs(options.model, folder);
  const shared = await buildShared(options, folder);
  const started = await Promise.allSettled(options.model.nodes.map((node) => buildNode(options, shared, node)));
  const failed = started.find((one) => one.status === 'rejected');
  if (failed !== undefined) {
    await stopFleet(shared);
    throw failed.reason;
  }
  const order = options.model.nodes.map(({ name }) => name);
  shared.nodes.sort((one, other) => order.indexOf(one.name) - order.indexOf(other.name));
  await shared.asked.takeTurn(shared.asked.settle);
  return shared;
}

/** Cuts every connection, ends every process and removes what only a running fleet needs. */
export async function stopFleet({ runId, lifeline, groups, pipes, nodes, asks, links }: FleetParts): Promise<void> {
  await Promise.all(nodes.map((node) => node.close()));
  groups.killAll();
  await sweepMarked(runId);
  await asks.close();
  await links.close();
  await pipes.close();
  await lifeline.close();
}
