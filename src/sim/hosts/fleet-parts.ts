import { randomBytes } from 'node:crypto';
import { chmod, mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { diagnose } from '../../diagnostics/diagnose.ts';
import { FleetError } from '../../diagnostics/fleet-error.ts';
import { preferencesPath } from '../model/network-preferences.ts';
import { type AskedFleet, answerAsk } from './ask/answer-ask.ts';
import { type AskServer, serveAsks } from './ask/ask-server.ts';
import { chooseSocketPath } from './control/control.ts';
import { saveState } from './control/saved-state.ts';
import { createEffectLog, type EffectLog } from './effects.ts';
import type { FleetHost, OpenHost } from './fleet-host.ts';
import type { FleetModel } from './fleet-model.ts';
import type { StartFleetOptions } from './fleet-options.ts';
import { createPowerFollower } from './follow-power.ts';
import { createDaemonFollower } from './launchd/network-daemon.ts';
import type { SimulatedNode } from './simulated-node.ts';
import { createExecWatch, type ExecWatch } from './ssh/exec-watch.ts';
import { type KeyFile, loadOrCreateKey } from './ssh/host-keys.ts';
import { createTurns } from './turns.ts';

/** Everything that a running fleet is made of. */
export interface FleetParts {
  readonly runId: string;
  readonly userKey: KeyFile;
  /** In the order of the file, once all of them are there. */
  readonly nodes: SimulatedNode[];
  readonly asks: AskServer;
  readonly askPath: string;
  readonly effects: EffectLog;
  readonly watch: ExecWatch;
  readonly asked: AskedFleet;
  readonly host: OpenHost;
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
async function buildShared(options: StartFleetOptions, folder: string, carrier: FleetHost): Promise<FleetParts> {
  const runId = randomBytes(6).toString('hex');
  const nodes: SimulatedNode[] = [];
  const effects = createEffectLog();
  const userKey = await loadOrCreateKey(join(folder, 'user-key'), 'simulated');
  const watch = createExecWatch();
  const askPath = await chooseSocketPath(folder, 'ask.sock');
  const opened: { host?: OpenHost } = {};
  const update = async (): Promise<void> => opened.host?.update(nodes);
  const asked = askedFleet({ model: options.model, folder, nodes, effects, update });
  const asks = await serveAsks(askPath, (request) => answerAsk(asked, request));
  try {
    const names = options.model.nodes.map(({ name }) => name);
    const host = await carrier.open({ runId, folder, nodes: names, userKey, askPath }, watch);
    opened.host = host;
    return { runId, userKey, nodes, asks, askPath, effects, watch, asked, host };
  } catch (error) {
    await asks.close();
    throw error;
  }
}

interface AskedParts {
  readonly model: FleetModel;
  readonly folder: string;
  readonly nodes: readonly SimulatedNode[];
  readonly effects: EffectLog;
  /** Brings the network in line with the model. */
  readonly update: () => Promise<void>;
}

function askedFleet({ model, nodes, effects, update, folder }: AskedParts): AskedFleet {
  const followPower = createPowerFollower(nodes);
  const followDaemons = createDaemonFollower(nodes);
  const takeFollow = createTurns();
  return {
    model,
    nodes,
    takeTurn: createTurns(),
    note: (node, act) => effects.add({ ...act, node: node.name, boot: node.boot(), atEpochMs: Date.now() }),
    // One after the other: a fault that is cleared while its Mac still starts is over when the Mac has started.
    follow: () =>
      takeFollow(async () => {
        await followPower();
        await followDaemons();
      }),
    settle: async () => {
      const state = model.save();
      if (state !== undefined) await saveState(folder, state);
      await Promise.all(nodes.map((node) => node.render()));
      await update();
      await Promise.all(nodes.map((node) => node.wake()));
    },
  };
}

/** The Mac behind a node starts: its preferences are read as they lie there, and everything follows from that. */
async function startModel({ asked }: FleetParts, node: SimulatedNode): Promise<void> {
  await asked.takeTurn(async () => {
    const edited = await node.edited(preferencesPath);
    if (edited !== undefined) asked.model.reread(node.name, edited);
    asked.model.boot(node.name, Math.floor(Date.now() / 1000));
    // Whoever set a new Mac up has typed its password.
    if (node.isExchanged()) asked.model.unlock(node.name);
    node.begin();
    await asked.settle();
  });
}

async function buildNode(
  { model, ports, clockFactor = usualClockFactor, intervalFactor = 1 }: StartFleetOptions,
  shared: FleetParts,
  { name, user }: FleetModel['nodes'][number],
): Promise<void> {
  const { asked, host } = shared;
  const node: SimulatedNode = await host.createNode({
    name,
    user,
    look: () => model.look(name),
    isKept: model.isKept(name),
    startModel: () => startModel(shared, node),
    unlockModel: () =>
      shared.asked.takeTurn(async () => {
        model.unlock(name);
        await shared.asked.settle();
      }),
    note: (act) => asked.note(node, act),
    scaledMs: (macMs) => macMs * clockFactor,
    intervalMs: (macMs) => macMs * intervalFactor,
    ...(ports?.[name] !== undefined && { preferredPort: ports[name] }),
  });
  shared.nodes.push(node);
}

/** Makes every part of a fleet on this host and starts its Macs. @throws FleetError `sim/run-folder` */
export async function buildFleet(options: StartFleetOptions, carrier: FleetHost): Promise<FleetParts> {
  const folder = await prepareFolder(options.folder);
  await startKeptMacs(options.model, folder);
  const shared = await buildShared(options, folder, carrier);
  const started = await Promise.allSettled(options.model.nodes.map((node) => buildNode(options, shared, node)));
  const failed = started.find((one) => one.status === 'rejected');
  if (failed !== undefined) {
    await stopFleet(shared);
    throw failed.reason;
  }
  const order = options.model.nodes.map(({ name }) => name);
  shared.nodes.sort((one, other) => order.indexOf(one.name) - order.indexOf(other.name));
  await shared.asked.takeTurn(shared.asked.settle);
  await shared.asked.follow();
  return shared;
}

/** Cuts every connection, ends every process and removes what only a running fleet needs. */
export async function stopFleet({ nodes, asks, host }: FleetParts): Promise<void> {
  await Promise.all(nodes.map((node) => node.close()));
  await asks.close();
  await host.close();
}
