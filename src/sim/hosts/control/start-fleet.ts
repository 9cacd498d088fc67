import { randomBytes } from 'node:crypto';
import { chmod, mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { diagnose } from '../../../diagnostics/diagnose.ts';
import { FleetError } from '../../../diagnostics/diagnostic.ts';
import { preferencesPath } from '../../model/network-preferences.ts';
import { type AskedFleet, type AskServer, answerAsk, serveAsks } from '../ask.ts';
import type { FleetHost, OpenHost, SimulatedNode } from '../fleet-host.ts';
import type { ActsAnswer, FaultAnswer, FleetModel, HandsAnswer } from '../fleet-model.ts';
import { createDaemonFollower, createPowerFollower } from '../follow-model.ts';
import type { Power } from '../node-life.ts';
import { portableHost } from '../portable-host.ts';
import { createEffectLog, type Effect, type EffectLog, type ExecRecord, type NodeCounts } from '../records.ts';
import { createExecWatch, type ExecWatch, type ReceivedExec } from '../ssh/exec-watch.ts';
import { type KeyFile, loadOrCreateKey } from '../ssh/host-keys.ts';
import { createTurns } from '../turns.ts';
import { chooseSocketPath } from './control.ts';
import { type RunNode, saveState } from './run-folder.ts';

/** A running simulated fleet of the portable host, which sees every command as it arrives. */
export interface Fleet extends RunningFleet {
  /**
   * Calls the listener for every command once it was received to the end of its input (or has ended), and holds back
   * what the client hears of it until the listener is content. The returned function ends that.
   */
  readonly onExec: (listener: (exec: ReceivedExec) => void | Promise<void>) => () => void;
  /** How many process groups of node commands live. */
  readonly groupCount: () => number;
}

/**
 * Brings up every node of a model behind real SSH on the loopback interface. Host keys and the client's key in the
 * folder are kept. So are the disks of nodes that the model knows from an earlier run: for those Macs it is a start
 * like any other. All others begin with an empty disk.
 *
 * @throws FleetError `sim/run-folder`
 */
export async function startFleet(options: StartFleetOptions): Promise<Fleet> {
  const parts = await buildFleet(options, portableHost);
  return { ...fleetOf(parts, options.model), onExec: parts.watch.add, groupCount: parts.host.groupCount };
}

/** The same on this host. @throws FleetError `sim/run-folder`, and what the host throws */
export async function startFleetOn(host: FleetHost, options: StartFleetOptions): Promise<RunningFleet> {
  return fleetOf(await buildFleet(options, host), options.model);
}

function fleetOf(parts: FleetParts, model: FleetModel): RunningFleet {
  const { nodes, asked } = parts;
  const named = (name: string): SimulatedNode | undefined => nodes.find((one) => one.name === name);
  const byName = <T>(value: (node: SimulatedNode) => T): Readonly<Record<string, T>> =>
    Object.fromEntries(nodes.map((node) => [node.name, value(node)]));
  const change = async <T extends FaultAnswer | ActsAnswer>(act: () => T): Promise<T> => {
    const answer = await asked.takeTurn(async () => {
      const done = act();
      if (done.kind === 'done') await asked.settle();
      return done;
    });
    await asked.follow();
    return answer;
  };
  let stopped: Promise<void> | undefined;
  return {
    runId: parts.runId,
    userKey: parts.userKey,
    askSocket: parts.askPath,
    nodes: byName((node) => node.run),
    disk: (name) => named(name)?.disk,
    counts: () => byName((node) => node.counts()),
    execs: () => nodes.flatMap((node) => node.execs()).sort((a, b) => a.atEpochMs - b.atEpochMs),
    effects: parts.effects.all,
    unknown: async () =>
      Object.fromEntries(await Promise.all(nodes.map(async (node) => [node.name, await node.unknown()] as const))),
    processes: () => nodes.flatMap((node) => node.launchd.processes().map((one) => ({ node: node.name, ...one }))),
    power: () => byName((node) => node.life.power()),
    setFault: (words) => change(() => model.setFault(words)),
    clearFault: (words) => change(() => model.clearFault(words)),
    hands: async () => {
      const answer = await asked.takeTurn(async () => {
        const work = model.hands();
        await asked.settle();
        return work;
      });
      const visited = nodes.filter((node) => answer.restarts.includes(node.name));
      await Promise.all(visited.map((node) => node.life.restart('up', 'hands').then(() => node.life.powerOn())));
      return answer;
    },
    act: (words) => change(() => model.act(words)),
    powerOn: async (name) => {
      const node = named(name);
      if (node?.view().ailments.lacksCurrent !== true) await node?.life.powerOn();
      return node !== undefined;
    },
    cutPower: async (name) => {
      const node = named(name);
      await node?.life.cutPower();
      return node !== undefined;
    },
    stop: () => {
      stopped ??= stopFleet(parts);
      return stopped;
    },
  };
}

/** A simulated fleet that runs in this process, on whichever host. */
export interface RunningFleet {
  readonly runId: string;
  readonly userKey: KeyFile;
  /** Where the tools of all nodes reach the simulator. */
  readonly askSocket: string;
  readonly nodes: Readonly<Record<string, RunNode>>;
  /** Where this process finds `/` of a node; undefined when there is no such node. */
  readonly disk: (node: string) => string | undefined;
  readonly counts: () => Readonly<Record<string, NodeCounts>>;
  /** Every kept command, by time. */
  readonly execs: () => readonly ExecRecord[];
  /** Every write, stop, deletion of model files and boot, in order. */
  readonly effects: () => readonly Effect[];
  /** Lines of `/.sim/unknown` by node: what a Mac would not have known. */
  readonly unknown: () => Promise<Readonly<Record<string, readonly string[]>>>;
  /** Every process that a launchd of the fleet has started and that has not ended. */
  readonly processes: () => readonly { readonly node: string; readonly label: string; readonly pid: number }[];
  readonly power: () => Readonly<Record<string, Power>>;
  /** Both re-render every node before they answer. */
  readonly setFault: (words: readonly string[]) => Promise<FaultAnswer>;
  readonly clearFault: (words: readonly string[]) => Promise<FaultAnswer>;
  /** The hands at the rack do what they can; resolves when every Mac that they restarted is up again. */
  readonly hands: () => Promise<HandsAnswer>;
  /** The hands move plugs as these words say, such as `unplug studio-1:2`. */
  readonly act: (words: readonly string[]) => Promise<ActsAnswer>;
  /** Presses the button of a Mac that is off; false when there is no such node. Resolves when it can be reached. */
  readonly powerOn: (node: string) => Promise<boolean>;
  /** Takes the power away from a Mac, in the middle of whatever it does; false when there is no such node. */
  readonly cutPower: (node: string) => Promise<boolean>;
  /** Cuts every connection and ends every process; may be called twice. */
  readonly stop: () => Promise<void>;
}

/** Everything that a running fleet is made of. */
interface FleetParts {
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
async function buildFleet(options: StartFleetOptions, carrier: FleetHost): Promise<FleetParts> {
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
async function stopFleet({ nodes, asks, host }: FleetParts): Promise<void> {
  await Promise.all(nodes.map((node) => node.close()));
  await asks.close();
  await host.close();
}

/** What a simulated fleet is started with. */
export interface StartFleetOptions {
  /** Private to the run: keys, roots, pipes, the state. Keys in it are used again. */
  readonly folder: string;
  readonly model: FleetModel;
  /** Ports of an earlier run by node, tried first. */
  readonly ports?: Readonly<Record<string, number>>;
  /** How long a second of a Mac takes here, in seconds: reboots and grace times. 1/20 when absent. */
  readonly clockFactor?: number;
  /**
   * The same for what launchd starts again and again (`StartInterval`). 1 when absent: as often as on a real Mac, since
   * a rack whose minutes are short would do little else.
   */
  readonly intervalFactor?: number;
}
